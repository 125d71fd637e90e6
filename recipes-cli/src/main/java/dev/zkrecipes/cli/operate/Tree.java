// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import static java.util.function.Predicate.not;

import dev.zkrecipes.cli.operate.PathView.Place;
import dev.zkrecipes.cli.operate.PathView.State;
import dev.zkrecipes.cli.text.PlainText;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;

/**
 * The locks at a path or, if deep, at that path and all paths below it.
 *
 * @param root the path
 * @param deep whether the paths below the root were read, too
 * @param seen when everything had been read, by this machine's clock
 * @param locks the locks, in the order of their paths
 * @param notes remarks for people, each a sentence that is safe on a terminal
 * @param grants when each holder got its lock, as far as this process saw it; ZooKeeper itself knows only when a
 *     holder queued
 */
record Tree(
        String root, boolean deep, Instant seen, List<Lock> locks, List<String> notes, Map<String, Instant> grants) {
    private static final String MISSING =
            "the path does not exist: ZooKeeper removes the path of a lock some time after its last user";
    private static final String LEASES = "leases";
    private static final String LOCKS = "locks";

    /**
     * A lock. The root of a tree that is not deep is always one of these, even if no lock node is there.
     *
     * @param view the view of the path
     * @param exists whether the path exists
     * @param notes remarks for people
     */
    record Lock(PathView view, boolean exists, List<String> notes) {
        List<Place> in(State state) {
            return view.places().stream()
                    .filter(place -> place.state() == state)
                    .toList();
        }
    }

    /**
     * A path that was read: its data, the children that look like lock nodes, and the names of children to look into.
     */
    private record Folder(Content head, Map<String, Optional<Content>> nodes, List<String> others) {
        PathView view(String path) {
            return PathView.of(path, head.data(), nodes);
        }
    }

    /**
     * Reads a path, and all paths below it if {@code deep}. Requests from ZooKeeper only what {@code reads} does not
     * have.
     *
     * @throws LockAccessException if the root may not be read
     */
    static Tree read(Reads reads, String root, boolean deep) throws InterruptedException {
        return reads.attempt(root, () -> {
            Map<String, Folder> folders = new TreeMap<>();
            List<String> notes = new ArrayList<>();
            List<String> level = List.of(root);
            while (!level.isEmpty()) {
                Map<String, Folder> found = readLevel(reads, level, notes);
                folders.putAll(found);
                level = found.entrySet().stream()
                        .flatMap(folder -> below(folder.getKey(), folder.getValue(), root, deep))
                        .toList();
            }
            return of(root, deep, folders, notes);
        });
    }

    /**
     * Returns the paths to read next: all other children if {@code deep}, otherwise only the two that may be the
     * folders of a Curator semaphore.
     */
    private static Stream<String> below(String path, Folder folder, String root, boolean deep) {
        boolean maybeCurators = path.equals(root) && folder.others.contains(LEASES);
        return folder.others.stream()
                .filter(name -> deep || (maybeCurators && List.of(LEASES, LOCKS).contains(name)))
                .map(name -> child(path, name));
    }

    /**
     * Reads paths with their lock nodes. Paths that no longer exist are left out, and a path that may not be read
     * becomes a note.
     */
    private static Map<String, Folder> readLevel(Reads reads, List<String> paths, List<String> notes)
            throws InterruptedException, KeeperException {
        Map<String, Answer<List<String>>> lists = reads.children(paths);
        Map<String, Answer<Content>> heads = reads.contents(paths);
        List<String> nodes = new ArrayList<>();
        lists.forEach((path, list) -> {
            if (list.isOk()) {
                list.value().stream().filter(PathView::mayBeLockNode).forEach(name -> nodes.add(child(path, name)));
            } else if (list.code() == Code.NOAUTH) {
                notes.add("no right to read " + PlainText.of(path) + ": nothing is known of it");
            }
        });
        Map<String, Answer<Content>> contents = reads.contents(nodes);
        Map<String, Folder> folders = new HashMap<>();
        heads.forEach((path, head) -> {
            Answer<List<String>> list = lists.get(path);
            if (list != null && list.isOk() && head.isOk()) {
                folders.put(path, folder(path, list.value(), head.value(), contents));
            }
        });
        return folders;
    }

    private static Folder folder(String path, List<String> names, Content head, Map<String, Answer<Content>> contents) {
        Map<String, Optional<Content>> nodes = new HashMap<>();
        List<String> others = new ArrayList<>();
        for (String name : names) {
            Answer<Content> read = contents.get(child(path, name));
            if (read == null) {
                others.add(name);
            } else if (read.code() != Code.NONODE) {
                nodes.put(name, Optional.ofNullable(read.valueOrNull()));
                if (read.isOk() && read.value().stat().getNumChildren() > 0) {
                    others.add(name);
                }
            }
        }
        return new Folder(head, nodes, others);
    }

    /** Builds the tree from the folders that were read. */
    private static Tree of(String root, boolean deep, Map<String, Folder> folders, List<String> notes) {
        if (!notes.isEmpty() && !folders.containsKey(root)) {
            throw new LockAccessException("no right to read " + root + ": give credentials that have it (--auth-file)");
        }
        Map<String, Lock> locks = new TreeMap<>();
        Map<String, Folder> rest = new TreeMap<>(folders);
        folders.forEach((path, folder) -> curators(path, folder, folders).ifPresent(view -> {
            locks.put(path, new Lock(view, true, notesOn(view)));
            List.of(path, child(path, LEASES), child(path, LOCKS)).forEach(rest::remove);
        }));
        rest.forEach((path, folder) -> {
            PathView view = folder.view(path);
            if (deep ? view.recipe() != PathView.Recipe.NONE : path.equals(root)) {
                List<String> all = notesOn(view);
                if (!deep) {
                    all.addAll(notesBeside(folder, view));
                }
                locks.put(path, new Lock(view, true, all));
            }
        });
        if (!folders.containsKey(root)) {
            if (deep) {
                notes.add(MISSING);
            } else {
                locks.put(root, new Lock(PathView.of(root, new byte[0], Map.of()), false, List.of(MISSING)));
            }
        }
        return new Tree(root, deep, Instant.now(), List.copyOf(locks.values()), List.copyOf(notes), Map.of());
    }

    /**
     * Returns the Curator semaphore at a path, if there is one. Its folder {@code locks} may be missing: it is a
     * container, which ZooKeeper removes a minute after the last acquire, even if leases are still held.
     */
    private static Optional<PathView> curators(String path, Folder folder, Map<String, Folder> folders) {
        String leasesPath = child(path, LEASES);
        String locksPath = child(path, LOCKS);
        Folder leases = folders.get(leasesPath);
        Optional<Folder> locks = Optional.ofNullable(folders.get(locksPath));
        return leases == null
                        || !leases.others.isEmpty()
                        || locks.filter(folderOfLocks -> !folderOfLocks.others.isEmpty())
                                .isPresent()
                        || !folder.view(path).places().isEmpty()
                ? Optional.empty()
                : PathView.ofCuratorSemaphore(
                        path,
                        leases.view(leasesPath),
                        locks.map(folderOfLocks -> folderOfLocks.view(locksPath))
                                .orElseGet(() -> PathView.of(locksPath, new byte[0], Map.of())));
    }

    /** Returns notes on what is unusual, and on what the nodes do not show. */
    static List<String> notesOn(PathView view) {
        List<String> notes = new ArrayList<>();
        String kinds = view.places().stream()
                .map(place -> PlainText.of(place.node().kind(), 40))
                .collect(Collectors.toCollection(TreeSet::new))
                .stream()
                .collect(Collectors.joining(", "));
        switch (view.recipe()) {
            case MIXED ->
                notes.add(
                        "nodes of several recipes (" + kinds + ") share this path, so zklock cannot tell who holds; no"
                                + " lock can be acquired here until one kind is gone");
            case UNKNOWN ->
                notes.add("zklock does not know the rule of " + kinds
                        + ", so it cannot tell who holds: this is the order of the queue");
            case SEMAPHORE ->
                view.limit()
                        .ifPresentOrElse(
                                limit -> {
                                    if (limit.configured() != limit.current()) {
                                        notes.add("the limit was made as " + limit.configured() + " and resized to "
                                                + limit.current());
                                    }
                                    if (view.places().stream().anyMatch(place -> place.state() == State.UNKNOWN)) {
                                        notes.add(
                                                "ZooKeeper does not show whether those marked ? hold, by the limit of "
                                                        + limit.earlier() + " before, or wait");
                                    }
                                },
                                () -> notes.add("the data of the path are not the limit of a semaphore, so zklock"
                                        + " cannot tell who holds"));
            case CURATOR_SEMAPHORE -> {
                notes.add("Curator keeps the limit in the code of its users, not in ZooKeeper");
                if (view.places().stream().anyMatch(place -> place.state() == State.UNKNOWN)) {
                    notes.add("ZooKeeper does not show whether the newest lease is held or still waits for room");
                }
            }
            case NONE, MUTEX, LATCH, READ_WRITE -> {}
        }
        addCounted(
                notes,
                view,
                place -> place.stat().isEmpty(),
                " may not be read with these rights: owner, session and age unknown");
        addCounted(
                notes,
                view,
                Tree::isOrphan,
                " without a session: no lock makes such nodes, and they stay until somebody deletes them (zklock break"
                        + " --node)");
        if (view.places().stream().anyMatch(place -> !place.node().hasOrdinaryNumber())) {
            notes.add("the sequence counter of the path is exhausted: nodes beyond its end are granted nothing");
        }
        return notes;
    }

    private static void addCounted(List<String> notes, PathView view, Predicate<Place> which, String remark) {
        long count = view.places().stream().filter(which).count();
        if (count > 0) {
            notes.add(counted(count, "node") + remark);
        }
    }

    /** Returns notes on children that are not nodes of the lock. */
    private static List<String> notesBeside(Folder folder, PathView view) {
        List<String> notes = new ArrayList<>();
        if (!folder.others.isEmpty()) {
            notes.add(counted(folder.others.size(), "other node")
                    + " below the path; zklock ls -r looks for locks among them");
        }
        int lookAlikes = folder.nodes.size() - view.places().size();
        if (lookAlikes > 0) {
            notes.add(counted(lookAlikes, "node") + " that no session owns named like those of a lock of unknown kind:"
                    + " no lock can be acquired beside them");
        }
        return notes;
    }

    /** Whether no session owns the node, so that it stays until somebody deletes it. */
    static boolean isOrphan(Place place) {
        return place.stat().isPresent() && place.stat().get().getEphemeralOwner() == 0;
    }

    static String counted(long count, String noun) {
        return count + " " + noun + (count == 1 ? "" : "s");
    }

    static String child(String parent, String name) {
        return parent.equals("/") ? "/" + name : parent + "/" + name;
    }

    /** Whether this state has nothing new to show. */
    boolean isSameAs(Tree before) {
        return locks.equals(before.locks) && notes.equals(before.notes);
    }

    /**
     * Returns this state with the times of the grants. A holder in {@code before} keeps its time, if one is known. A
     * new holder counts as granted when this state was read.
     */
    Tree after(Tree before) {
        Map<String, Instant> known = new HashMap<>(before.grants);
        known.keySet().retainAll(holders());
        holders().stream().filter(not(before.holders()::contains)).forEach(holder -> known.put(holder, seen));
        return new Tree(root, deep, seen, locks, notes, known);
    }

    private Set<String> holders() {
        return locks.stream()
                .flatMap(lock -> lock.in(State.HOLDS).stream().map(place -> key(lock.view(), place)))
                .collect(Collectors.toSet());
    }

    Optional<Instant> granted(PathView view, Place place) {
        return Optional.ofNullable(grants.get(key(view, place)));
    }

    private static String key(PathView view, Place place) {
        return child(view.path(), place.node().name());
    }

    /** Returns the only lock of a tree that is not deep. */
    Lock lock() {
        return locks.get(0);
    }
}
