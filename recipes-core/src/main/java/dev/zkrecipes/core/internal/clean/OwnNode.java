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
 * One request's node in the queue of a lock, and what is known of its existence. Its session and its id are its own for
 * good: a request queues again with a new one, so that a late deletion only ever hits what it was meant for.
 */
public final class OwnNode {
    /** From here on, a holder that saw no other node resets the path's counter when it leaves. */
    public static final long OLD = 1L << 30;

    /** From here on nothing is granted. The remaining numbers are for requests that only discover this. */
    public static final long WORN_OUT = (1L << 31) - (1L << 20);

    /** A token leaves this many low bits for later holders of the same node. */
    private static final int TOKEN_ORDINAL_BITS = 11;

    private static final long FIRST_UNUSABLE_CZXID = 1L << 52;

    /** What is known. A node that was {@code CREATED} may have been deleted since; it cannot come back. */
    public enum Existence {
        /** The create was sent and not yet answered. */
        IN_FLIGHT,
        /** The answer was lost: the node may exist now, later, or never. */
        UNKNOWN,
        /**
         * It was looked for behind a committed write; only a server that stood still, or was cut off, can make it yet.
         */
        MISSING,
        /** The server said that it made the node. */
        CREATED,
        /** The node was never made and never will be. */
        ABSENT
    }

    private final Session session;
    private final String lockPath;
    private final String id;
    private final String prefix;
    private final boolean numberIsGiven;
    private Existence existence = Existence.IN_FLIGHT;
    private @Nullable String path;
    private long czxid;
    private boolean sawNobodyElse;
    private @Nullable Runnable whenAnswered;
    private @Nullable ParentMaker parents;
    List<OwnNode> createdTogether = List.of();
    boolean mayBeMadeTwice;
    private int counted;
    private int looks;

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

    /** The path to create, which ZooKeeper appends the sequence number to, unless it has one already. */
    public String prefix() {
        return prefix;
    }

    /** Whether a child of the lock's path is this request's. */
    public boolean isOurs(String childName) {
        return numberIsGiven ? childName.equals(LockPath.name(prefix)) : childName.startsWith(id);
    }

    public String path() {
        return Preconditions.checkNotNull(path, "node not created");
    }

    public long czxid() {
        return czxid;
    }

    /** The fencing token of a node that was created. It leaves room for those of later holders of the same node. */
    public long fencingToken() {
        if (czxid <= 0 || czxid >= FIRST_UNUSABLE_CZXID) {
            throw new LockException("no fencing token can be made of czxid 0x" + Long.toHexString(czxid) + " of "
                    + path() + "; the ensemble has outlived this library's tokens");
        }
        return czxid << TOKEN_ORDINAL_BITS;
    }

    public String name() {
        return LockPath.name(path());
    }

    /** The number in the name or path of a sequential node; past the counter's end, without its minus sign. */
    public static long numberOf(String node) {
        int length = node.length();
        return Long.parseLong(node, length - LockNode.SEQUENCE_DIGITS, length, 10);
    }

    public String describe() {
        return path == null ? prefix + "?" : path;
    }

    public static String describe(List<OwnNode> nodes) {
        return nodes.stream().map(OwnNode::describe).collect(Collectors.joining(", "));
    }

    /** The bytes that the node's path takes in the record of its session's end. */
    public int sizeAtEnd() {
        return Integer.BYTES + Utf8.encodedLength(prefix) + (numberIsGiven ? 0 : LockNode.SEQUENCE_DIGITS);
    }

    /** Its create is about to be sent: from now on it counts among the session's nodes. */
    public void count() {
        if (counted == 0) {
            counted = sizeAtEnd();
            session.nodes().add(id, counted);
        }
    }

    /** It is gone, or never was, and no longer counts. */
    public void uncount() {
        session.nodes().remove(id, counted);
        counted = 0;
    }

    /** Runs {@code task} once the create is answered, at once if it is already. */
    public void whenAnswered(Runnable task) {
        if (existence == Existence.IN_FLIGHT) {
            whenAnswered = task;
        } else {
            task.run();
        }
    }

    /** Notes how the create failed. Only answers that are known to come from a refusal mean that there is no node. */
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

    public void created(String name, long nodeCzxid) {
        createdAt(LockPath.child(lockPath, name), nodeCzxid);
    }

    public void createdAt(String nodePath, long nodeCzxid) {
        existence = Existence.CREATED;
        path = nodePath;
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

    public void createdTogether(List<OwnNode> all) {
        createdTogether = all;
    }

    public void madeBelow(ParentMaker maker) {
        parents = maker;
    }

    Optional<ParentMaker> parents() {
        return Optional.ofNullable(parents);
    }

    /** Notes whether there was no other node below the lock's path when the lock was granted. */
    public void seenAlone(boolean nobodyElse) {
        sawNobodyElse = nobodyElse;
    }

    /** Whether the path's counter is to be started anew when this node leaves, if nobody has come meanwhile. */
    public boolean leavesOldCounter() {
        return existence == Existence.CREATED && numberOf(path()) >= (sawNobodyElse ? OLD : WORN_OUT);
    }

    /** Notes that the node was looked for, and was not there; returns how often that was so. */
    int noteMissing() {
        uncount();
        existence = Existence.MISSING;
        mayBeMadeTwice = false; // not after the next look
        parents = null; // a request that continues makes its path with the same one
        return ++looks;
    }

    /** Notes that its create, which names the number, too, is sent again: a server may carry out both. */
    public void sentAgain() {
        mayBeMadeTwice = true;
    }

    public void absent() {
        uncount();
        existence = Existence.ABSENT;
    }
}
