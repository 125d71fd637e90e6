// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.clean;

import com.google.common.base.Preconditions;
import com.google.common.base.Utf8;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.internal.wire.NodeId;
import dev.zkrecipes.core.spi.LockNode;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * One request's node in the queue of a lock, and what is known about its existence. It always belongs to the same
 * session, and its name has an id that no other node ever has. A request that queues again does so with a new node, so
 * a late deletion can only hit the node that it was meant for.
 *
 * <p>Confined to the engine thread, except for its final fields.
 */
public final class OwnNode {
    /** From this number on, a holder that saw no other node resets the path's counter when it leaves. */
    public static final long OLD = 1L << 30;

    /** From this number on nothing is granted. The remaining numbers are for requests that find that out. */
    public static final long WORN_OUT = (1L << 31) - (1L << 20);

    /** A token leaves this many low bits for later holders of the same node. */
    private static final int TOKEN_ORDINAL_BITS = 11;

    private static final long FIRST_UNUSABLE_CZXID = 1L << 52; // its token would be negative

    /**
     * What is known about the node. A node that is {@code CREATED} may have been deleted since. Then it comes back only
     * if its create was {@linkplain #sentAgain sent again}.
     */
    public enum Existence {
        /** The create was sent and not yet answered. */
        IN_FLIGHT,
        /** The answer was lost: the node may exist now, later, or never. */
        UNKNOWN,
        /**
         * The node was searched for after a committed write, and was not found. Only a server that was paused or cut
         * off can still create it.
         */
        MISSING,
        /** The server has shown that the node was created. */
        CREATED,
        /** The create was not sent yet, or was refused: the node does not exist. */
        ABSENT
    }

    private final Session session;
    private final String lockPath;
    private final String id; // the start of its name, which distinguishes it from the nodes of all other requests
    private final String prefix;
    private final boolean numberIsGiven; // rather than assigned by ZooKeeper
    private Existence existence = Existence.ABSENT;
    private @Nullable String path; // null until it is known to exist
    private @Nullable String name; // of the same node, as it is asked for often
    private long czxid; // the id of the transaction that created it; 0 while it is not known
    private boolean sawNobodyElse;
    private @Nullable Runnable whenAnswered;
    private @Nullable ParentMaker parents; // the maker of the lock's path, if the path was missing
    private List<OwnNode> createdTogether = List.of(); // the nodes of one multi, which all exist if one does
    private boolean mayBeMadeTwice; // whether it may appear again after its deletion
    private int counted; // the bytes that it adds to the session's nodes
    private int looks; // how often it was searched for and not found

    /** A node that ZooKeeper will number. */
    public OwnNode(Session session, LockSpec spec, RandomGenerator random) {
        this(session, spec, spec.nodeName(), false, random);
    }

    private OwnNode(Session session, LockSpec spec, String nodeName, boolean numberIsGiven, RandomGenerator random) {
        this.session = session;
        this.id = NodeId.next(random);
        this.lockPath = spec.path();
        this.prefix = LockPath.child(lockPath, id, nodeName);
        this.numberIsGiven = numberIsGiven;
    }

    /** Returns a node with the number of a held one, so that it has the same place in the queue. */
    public static OwnNode atPlaceOf(OwnNode held, LockSpec spec, RandomGenerator random) {
        String name = held.name();
        String number = name.substring(name.length() - LockNode.SEQUENCE_DIGITS);
        return new OwnNode(held.session(), spec, spec.nodeName() + number, true, random);
    }

    public Session session() {
        return session;
    }

    public String lockPath() {
        return lockPath;
    }

    public Existence existence() {
        return existence;
    }

    /** The path for the create. ZooKeeper appends a sequence number to it, unless the number is given. */
    public String prefix() {
        return prefix;
    }

    /** Whether the child of this name is this node. */
    public boolean isOurs(String childName) {
        return numberIsGiven ? childName.equals(LockPath.name(prefix)) : childName.startsWith(id);
    }

    /** Returns the full path, with the number, of a node that was created. */
    public String path() {
        return Preconditions.checkNotNull(path, "node not created");
    }

    public long czxid() {
        return czxid;
    }

    /**
     * Returns the fencing token of a node that was created: the id of the transaction that created it, with room for
     * the tokens of later holders of the same node. Transaction ids increase across all paths, even if a path is
     * recreated.
     */
    public long fencingToken() {
        if (czxid <= 0 || czxid >= FIRST_UNUSABLE_CZXID) {
            throw new LockException("no fencing token can be made of czxid 0x" + Long.toHexString(czxid) + " of "
                    + path() + "; the ensemble has outlived this library's tokens");
        }
        return czxid << TOKEN_ORDINAL_BITS;
    }

    public String name() {
        return Preconditions.checkNotNull(name, "node not created");
    }

    /**
     * Returns the number in the name or path of a sequential node. A number past the counter's end is read without its
     * minus sign.
     */
    public static long numberOf(String node) {
        int length = node.length();
        return Long.parseLong(node, length - LockNode.SEQUENCE_DIGITS, length, 10);
    }

    /** Returns how messages name the node, even before its number is known. */
    public String describe() {
        return path == null ? prefix + "?" : path;
    }

    public static String describe(List<OwnNode> nodes) {
        return nodes.stream().map(OwnNode::describe).collect(Collectors.joining(", "));
    }

    /** Returns how many bytes the node's path takes in the record that the server writes when the session ends. */
    public int sizeAtEnd() {
        return Integer.BYTES + Utf8.encodedLength(prefix) + (numberIsGiven ? 0 : LockNode.SEQUENCE_DIGITS);
    }

    /**
     * Counts the node among those of its session from now on. Called just before its create is sent: until then, nobody
     * may wait for an answer.
     */
    public void count() {
        if (existence == Existence.ABSENT) {
            existence = Existence.IN_FLIGHT;
        }
        if (counted == 0) {
            counted = sizeAtEnd();
            session.nodes().add(id, counted);
        }
    }

    /** Stops counting the node among those of its session, because it is gone or never existed. */
    public void uncount() {
        session.nodes().remove(id, counted);
        counted = 0;
    }

    /** Runs {@code task} once the create is answered; at once if it is answered already. */
    public void whenAnswered(Runnable task) {
        if (existence == Existence.IN_FLIGHT) {
            whenAnswered = task;
        } else {
            task.run();
        }
    }

    /** Records how the create failed. Only codes that are known to be refusals mean that the node does not exist. */
    public void failed(Code code) {
        switch (code) {
            case OK -> throw new IllegalArgumentException("not a failure");
            case NONODE,
                    NOAUTH,
                    INVALIDACL,
                    NODEEXISTS,
                    NOCHILDRENFOREPHEMERALS,
                    QUOTAEXCEEDED,
                    NOTREADONLY,
                    EPHEMERALONLOCALSESSION,
                    BADARGUMENTS,
                    UNIMPLEMENTED,
                    MARSHALLINGERROR -> absent();
            default -> existence = Existence.UNKNOWN;
        }
        tellWhoWaits();
    }

    /** Records that the node exists, under this name. */
    public void created(String name, long nodeCzxid) {
        createdAt(LockPath.child(lockPath, name), nodeCzxid);
    }

    /** Records that the node exists, at this path. */
    public void createdAt(String nodePath, long nodeCzxid) {
        existence = Existence.CREATED;
        path = nodePath;
        name = LockPath.name(nodePath);
        czxid = nodeCzxid;
        tellWhoWaits();
    }

    private void tellWhoWaits() {
        Runnable waiting = whenAnswered;
        if (waiting != null) {
            whenAnswered = null;
            waiting.run();
        }
    }

    /** Records the nodes, including this one, that one {@code multi} creates: it creates all of them or none. */
    public void createdTogether(List<OwnNode> all) {
        createdTogether = all;
    }

    List<OwnNode> createdTogether() {
        return createdTogether;
    }

    /** Records the maker of the path below which this node is to be created. */
    public void madeBelow(ParentMaker maker) {
        parents = maker;
    }

    Optional<ParentMaker> parents() {
        return Optional.ofNullable(parents);
    }

    /** Records whether the lock's path had no other child when the lock was granted. */
    public void seenAlone(boolean nobodyElse) {
        sawNobodyElse = nobodyElse;
    }

    /**
     * Whether the path's counter is to be reset once this node is gone. A worn-out counter is reset even if there were
     * other nodes: requests that meet on it refuse each other, so the last one to leave has to reset it.
     */
    public boolean leavesOldCounter() {
        return existence == Existence.CREATED && numberOf(path()) >= (sawNobodyElse ? OLD : WORN_OUT);
    }

    /** Records that the node was searched for and not found. Returns how often that has happened. */
    int noteMissing() {
        uncount();
        existence = Existence.MISSING;
        mayBeMadeTwice = false; // the searches that follow find a second one
        parents = null; // a request that continues creates its path with the same maker, which must not be stopped
        return ++looks;
    }

    /**
     * Records that its create is sent again, with the same number. Servers may carry out both creates, one of them
     * late.
     */
    public void sentAgain() {
        mayBeMadeTwice = true;
    }

    boolean mayBeMadeTwice() {
        return mayBeMadeTwice;
    }

    /** Records that the node does not exist, and never will. */
    public void absent() {
        uncount();
        existence = Existence.ABSENT;
    }
}
