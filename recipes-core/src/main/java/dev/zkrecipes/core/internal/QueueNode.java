// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import com.google.common.base.Preconditions;
import dev.zkrecipes.core.spi.EngineScheduler;
import dev.zkrecipes.core.spi.LockNode;
import java.util.HexFormat;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * One request's node in the queue of a lock, and what is known of its existence. It belongs to one session for good and
 * has an id that no other node ever has: when a request queues again it does so with a new one, so that a late deletion
 * can only ever hit what it was meant for.
 */
final class QueueNode {
    static final int ID_LENGTH = 32;

    /** What is known. A node that was {@code CREATED} may have been deleted since; it cannot come back. */
    enum Existence {
        /** The create was sent and not yet answered. */
        IN_FLIGHT,
        /** The answer was lost: the node may exist now, later, or never. */
        UNKNOWN,
        /** The server said that it made the node. */
        CREATED,
        /** The node was never made and never will be. */
        ABSENT
    }

    private final Session session;
    private final String lockPath;
    private final String id;
    private final String nodeName;
    private final boolean numberIsGiven;
    private Existence existence = Existence.IN_FLIGHT;
    private @Nullable String path;
    private long czxid;
    private boolean sawNobodyElse;
    private @Nullable Runnable whenAnswered;

    /** A node that ZooKeeper numbers. */
    QueueNode(Session session, LockTarget target) {
        this(session, target, target.nodeName(), false);
    }

    private QueueNode(Session session, LockTarget target, String nodeName, boolean numberIsGiven) {
        this.session = session;
        this.id = newId(target.client().scheduler());
        this.lockPath = target.path();
        this.nodeName = nodeName;
        this.numberIsGiven = numberIsGiven;
    }

    /** A node at the place of another one, which is held. */
    static QueueNode atPlaceOf(QueueNode held, LockTarget target) {
        String name = held.name();
        String number = name.substring(name.length() - LockNode.SEQUENCE_DIGITS);
        return new QueueNode(held.session(), target, target.nodeName() + number, true);
    }

    /** 32 hexadecimal digits that nobody else ever has. */
    static String newId(EngineScheduler scheduler) {
        RandomGenerator random = scheduler.random();
        HexFormat hex = HexFormat.of();
        return hex.toHexDigits(random.nextLong()) + hex.toHexDigits(random.nextLong());
    }

    Session session() {
        return session;
    }

    String lockPath() {
        return lockPath;
    }

    Existence existence() {
        return existence;
    }

    /** The path to create, which ZooKeeper appends the sequence number to, unless it has one already. */
    String prefix() {
        return LockPath.child(lockPath, id + "-" + nodeName);
    }

    /** Whether a child of the lock's path is this request's. */
    boolean isOurs(String childName) {
        String known = id + "-";
        return numberIsGiven ? childName.equals(known + nodeName) : childName.startsWith(known);
    }

    /** The whole path of a node that was created. */
    String path() {
        return Preconditions.checkNotNull(path, "node not created");
    }

    /** The creation transaction id of a node that was created. */
    long czxid() {
        return czxid;
    }

    String name() {
        return LockPath.name(path());
    }

    /** What to call the node in messages, also before its number is known. */
    String describe() {
        return path == null ? prefix() + "?" : path;
    }

    /** The same for several. */
    static String describe(List<QueueNode> nodes) {
        return nodes.stream().map(QueueNode::describe).collect(Collectors.joining(", "));
    }

    /** Runs {@code task} once the create is answered, at once if it is already. */
    void whenAnswered(Runnable task) {
        if (existence == Existence.IN_FLIGHT) {
            whenAnswered = task;
        } else {
            task.run();
        }
    }

    /** Notes how the create failed. Only answers that are known to come from a refusal mean that there is no node. */
    void failed(Code code) {
        switch (code) {
            case OK -> throw new IllegalArgumentException("not a failure");
            case NONODE,
                    NOAUTH,
                    INVALIDACL,
                    NODEEXISTS,
                    NOCHILDRENFOREPHEMERALS,
                    QUOTAEXCEEDED,
                    NOTREADONLY,
                    BADARGUMENTS,
                    UNIMPLEMENTED -> existence = Existence.ABSENT;
            default -> existence = Existence.UNKNOWN;
        }
        tellWhoWaits();
    }

    /** Notes that the node exists. */
    void created(String name, long nodeCzxid) {
        existence = Existence.CREATED;
        path = LockPath.child(lockPath, name);
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

    /** Notes that the node holds the lock, and whether there was no other below the lock's path when that was seen. */
    void granted(boolean nobodyElse) {
        sawNobodyElse = nobodyElse;
    }

    /** Whether the path's counter is to be started anew when this node leaves, if nobody has come meanwhile. */
    boolean leavesOldCounter() {
        return sawNobodyElse && CounterAge.of(name()) >= CounterAge.OLD;
    }

    void absent() {
        existence = Existence.ABSENT;
    }
}
