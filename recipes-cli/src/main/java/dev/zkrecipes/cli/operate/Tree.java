// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import dev.zkrecipes.cli.operate.Folder.Status;
import dev.zkrecipes.cli.operate.Place.Origin;
import dev.zkrecipes.cli.operate.Reads.Children;
import dev.zkrecipes.cli.operate.Reads.Replies;
import dev.zkrecipes.cli.text.PlainText;
import dev.zkrecipes.core.LockAccessException;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;

/**
 * A path, with or without what is below it, as zklock has read it. A refresh reads only what is not known or may have
 * changed. Not thread-safe.
 */
final class Tree {
    private static final String MISSING =
            "the path does not exist: ZooKeeper removes the path of a lock some time after its last user";

    private final String root;
    private final boolean deep;
    private final Map<String, Folder> folders = new TreeMap<>();

    /**
     * A tree of which nothing was read yet.
     *
     * @param deep whether to look at what is below the path
     */
    Tree(String root, boolean deep) {
        this.root = root;
        this.deep = deep;
        folders.put(root, new Folder(root));
    }

    /** Something about this path has changed: a node below it came or went, or its own data. */
    void markDirty(String path) {
        Folder folder = folders.get(path);
        if (folder != null) {
            folder.markDirty();
        }
        int slash = path.lastIndexOf('/');
        Folder parent = folders.get(slash <= 0 ? "/" : path.substring(0, slash));
        if (parent != null && folder == null) {
            parent.forget(path.substring(slash + 1));
        }
    }

    /** Forgets everything: a new session has none of the watches. */
    void forgetAll() {
        folders.clear();
        folders.put(root, new Folder(root));
    }

    /**
     * Reads what is not known.
     *
     * @throws BrokenReadException if the connection or the session was lost; what was read is kept
     * @throws LockAccessException if the path itself may not be read
     */
    void refresh(Reads reads) throws InterruptedException {
        List<Folder> toBeRead = toBeRead();
        do {
            readFolders(toBeRead, reads);
            readNodes(reads);
            growAndPrune();
            toBeRead = toBeRead();
        } while (!toBeRead.isEmpty());
        if (folder(root).status() == Status.NO_RIGHTS) {
            throw new LockAccessException("no right to read " + root + ": give credentials that have it (--auth-file)");
        }
    }

    private List<Folder> toBeRead() {
        return folders.values().stream()
                .filter(folder -> folder.status() == Status.TO_BE_READ)
                .toList();
    }

    private void readFolders(List<Folder> toBeRead, Reads reads) throws InterruptedException {
        List<String> paths = toBeRead.stream().map(Folder::path).toList();
        Replies<Children> lists = reads.children(paths);
        Replies<Read> heads = reads.data(paths, Read::of);
        for (Folder folder : toBeRead) {
            Reply<Children> list = lists.to(folder.path());
            Reply<Read> head = heads.to(folder.path());
            if (list.isOk() && head.isOk()) {
                // Else the data are not those of the list, and both are read once more.
                if (list.get().stat().getVersion() == head.get().version()
                        && list.get().stat().getCzxid() == head.get().czxid()) {
                    folder.setRead(list.get().names(), head.get().limit());
                    lookAgainBelow(folder);
                }
            } else if (list.code() == head.code()) {
                boolean missing = list.code() == Code.NONODE;
                if (!missing) {
                    folder.setUnread(Status.NO_RIGHTS);
                } else if (!folder.path().equals(root) || !reads.exists(root)) {
                    folder.setUnread(Status.MISSING);
                }
            }
        }
    }

    /** What was missing when it was read may have been recreated since. */
    private void lookAgainBelow(Folder folder) {
        for (String name : folder.subFolders()) {
            Folder below = folders.get(child(folder.path(), name));
            if (below != null && below.status() == Status.MISSING) {
                below.markDirty();
            }
        }
    }

    /** What a read of a path gives. */
    private record Read(Optional<Limit> limit, int version, long czxid) {
        static Read of(byte[] data, Stat stat) {
            return new Read(Limit.decode(data), stat.getVersion(), stat.getCzxid());
        }
    }

    /** What a read of a lock node gives. */
    private record Found(NodeData data, Origin origin, boolean hasChildren) {
        static final Found UNREADABLE = new Found(NodeData.NONE, Origin.UNREADABLE, false);

        static Found of(byte[] data, Stat stat) {
            Origin origin = new Origin(
                    true,
                    stat.getEphemeralOwner(),
                    Instant.ofEpochMilli(stat.getCtime()),
                    stat.getCzxid(),
                    stat.getVersion());
            return new Found(NodeData.decode(data), origin, stat.getNumChildren() > 0);
        }
    }

    private void readNodes(Reads reads) throws InterruptedException {
        Map<String, Folder> unread = new TreeMap<>();
        for (Folder folder : folders.values()) {
            if (folder.status() == Status.READ) {
                folder.unreadNames().forEach(name -> unread.put(child(folder.path(), name), folder));
            }
        }
        Replies<Found> replies = reads.data(unread.keySet(), Found::of);
        unread.forEach((path, folder) -> {
            String name = path.substring(path.lastIndexOf('/') + 1);
            Reply<Found> reply = replies.to(path);
            if (reply.isOk() || reply.code() == Code.NOAUTH) {
                Found found = reply.isOk() ? reply.get() : Found.UNREADABLE;
                folder.put(name, new Node(folder.named(name), found.data(), found.origin(), found.hasChildren()));
            } else {
                folder.drop(name);
            }
        });
    }

    /** Adds what was found below, and removes what is gone. */
    private void growAndPrune() {
        Set<String> wanted = new HashSet<>();
        Deque<String> toVisit = new ArrayDeque<>(List.of(root));
        while (!toVisit.isEmpty()) {
            String path = toVisit.pop();
            wanted.add(path);
            wantedBelow(path).forEach(name -> toVisit.push(child(path, name)));
        }
        folders.keySet().retainAll(wanted);
        wanted.forEach(path -> folders.computeIfAbsent(path, Folder::new));
    }

    /** The names of the folders to look into, below one that may have been read. */
    private Collection<String> wantedBelow(String path) {
        Folder folder = folders.get(path);
        if (folder == null) {
            return List.of();
        }
        if (deep) {
            return folder.subFolders();
        }
        boolean maybeCurators = folder.has(CuratorSemaphore.LEASES) && folder.has(CuratorSemaphore.LOCKS);
        return maybeCurators && path.equals(root)
                ? List.of(CuratorSemaphore.LEASES, CuratorSemaphore.LOCKS)
                : List.of();
    }

    /** What was read, as of now. */
    TreeView view(Instant seen) {
        List<LockView> locks = new ArrayList<>();
        List<String> notes = new ArrayList<>();
        Set<String> shown = new HashSet<>();
        for (Folder folder : folders.values()) {
            curators(folder).ifPresent(semaphore -> {
                locks.add(semaphore);
                shown.add(folder.path());
                shown.add(child(folder.path(), CuratorSemaphore.LEASES));
                shown.add(child(folder.path(), CuratorSemaphore.LOCKS));
            });
        }
        for (Folder folder : folders.values()) {
            if (folder.status() == Status.NO_RIGHTS) {
                notes.add("no right to read " + PlainText.of(folder.path()) + ": nothing is known of it");
            } else if (!shown.contains(folder.path())) {
                (deep ? below(folder) : alone(folder)).ifPresent(locks::add);
            }
        }
        if (deep && folder(root).status() == Status.MISSING) {
            notes.add(MISSING);
        }
        locks.sort(Comparator.comparing(LockView::path));
        return new TreeView(root, deep, seen, locks, notes);
    }

    /** For one of many paths: empty unless it is a lock. Nothing shows that an empty path belongs to one. */
    private static Optional<LockView> below(Folder folder) {
        LockView view = folder.queue().view();
        return view.recipe() == SeenRecipe.NONE ? Optional.empty() : Optional.of(view);
    }

    /** For the only path: whatever it is. */
    private Optional<LockView> alone(Folder folder) {
        if (!folder.path().equals(root)) {
            return Optional.empty();
        }
        if (folder.status() == Status.MISSING) {
            return Optional.of(
                    new LockView(root, false, SeenRecipe.NONE, Optional.empty(), List.of(), List.of(MISSING)));
        }
        LockView view = folder.queue().view();
        List<String> notes = new ArrayList<>(view.notes());
        int others = folder.subFolders().size();
        if (others > 0) {
            notes.add(Queue.counted(others, "other node") + " below the path; zklock ls -r looks for locks among them");
        }
        int lookAlikes = folder.lookAlikes();
        if (lookAlikes > 0) {
            notes.add(Queue.counted(lookAlikes, "node")
                    + " that no session owns named like those of a lock of unknown kind:"
                    + " no lock can be acquired beside them");
        }
        return Optional.of(new LockView(root, true, view.recipe(), view.limit(), view.places(), notes));
    }

    private Optional<LockView> curators(Folder folder) {
        Folder leases = folders.get(child(folder.path(), CuratorSemaphore.LEASES));
        Folder locks = folders.get(child(folder.path(), CuratorSemaphore.LOCKS));
        if (leases == null
                || locks == null
                || leases.status() != Status.READ
                || locks.status() != Status.READ
                || !leases.subFolders().isEmpty()
                || !locks.subFolders().isEmpty()
                || !folder.queue().nodes().isEmpty()
                || !CuratorSemaphore.isOne(leases.queue(), locks.queue())) {
            return Optional.empty();
        }
        return Optional.of(new CuratorSemaphore(folder.path(), leases.queue(), locks.queue()).view());
    }

    private Folder folder(String path) {
        Folder found = folders.get(path);
        if (found == null) {
            throw new IllegalArgumentException(path + " is not in the tree");
        }
        return found;
    }

    private static String child(String parent, String name) {
        return parent.equals("/") ? "/" + name : parent + "/" + name;
    }
}
