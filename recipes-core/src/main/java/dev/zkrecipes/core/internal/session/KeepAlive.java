// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.OpResult;

/**
 * Keeps the state of the leases of one session correct. T is the session time-out.
 *
 * <ul>
 *   <li>While the session holds a lease that is older than T/6, one {@code multi} of checks is sent every T/6. It names
 *       all nodes that the session holds. The answer comes with a commit, so it renews the proof that the session is
 *       alive, and it shows whether a node is gone.
 *   <li>If after that the proof is good for less than another third of T, because answers are slow or the process was
 *       paused, a second check follows at once. It proves more, see {@link SessionReports}.
 *   <li>Once T has passed since the latest committed write was sent, every lease is lost, whatever a server says later.
 * </ul>
 *
 * <p>Nothing is sent for a session that holds nothing. Confined to the engine thread.
 */
public final class KeepAlive {
    /** Keeps a check far below ZooKeeper's packet limit of 1 MiB, even if each character takes several bytes. */
    private static final int PATH_CHARACTERS_PER_CHECK = 100_000;

    /** Of a lower limit, a check takes this part: the rest is for such characters, and for a chroot. */
    private static final int PART_OF_A_PACKET = 8;

    /** An upper bound of the bytes that one check takes in a request besides its path. */
    private static final int AROUND = 20;

    /** A held node, which is checked until its hold ends. */
    public interface CheckedNode {
        String nodePath();

        /** Returns when the node was granted, by the engine's clock. */
        long grantedAt();

        /** Ends the hold as lost, unless it has ended. The node need not be checked any longer. */
        void lose(String reason);

        /**
         * Called when the session or the client has ended. Ends the hold as lost, unless it has ended, and has the node
         * deleted, even if the thread that is releasing the hold has not got that far yet.
         */
        void endAtOnce(String reason);

        /** Called when the node is gone. The hold is lost, unless we have deleted the node ourselves. */
        void onNodeGone();

        /**
         * If the hold has ended, does what follows from that: the thread that ended it may have died before it could.
         */
        void finishEnd();

        /** Called when the client was closed, so that nobody is left to delete the node. */
        void abandon();
    }

    private final Session session;
    private final EngineScheduler scheduler;
    private final Map<String, CheckedNode> kept = new LinkedHashMap<>(); // by path of the node, oldest first
    private volatile boolean keepsAny; // a copy of !kept.isEmpty() for other threads
    private boolean armed; // whether the timer is set
    private int checksUnderWay;
    private boolean checkedTwice; // whether a second check has followed the last one
    private long checkedAt; // when the last check of all nodes was sent

    public KeepAlive(Session session, EngineScheduler scheduler) {
        this.session = session;
        this.scheduler = scheduler;
        this.checkedAt = scheduler.nanoTime();
    }

    /** Adds a node that was granted. No check is due for it until it is older than T/6. */
    public void add(CheckedNode node) {
        kept.put(node.nodePath(), node);
        keepsAny = true;
        if (!armed) {
            arm(Math.min(period(), lossDue()));
        }
    }

    /** Removes a node whose hold has ended. */
    public void remove(CheckedNode node) {
        kept.remove(node.nodePath(), node);
        keepsAny = !kept.isEmpty();
    }

    /**
     * Called when another request of this session, which was waiting for a node that is held here, has learned that the
     * node is gone.
     */
    public void onNodeGone(String nodePath) {
        CheckedNode held = kept.get(nodePath);
        if (held != null) {
            held.onNodeGone();
        }
    }

    /** Whether the session holds anything. May be called from any thread. */
    boolean keepsAny() {
        return keepsAny;
    }

    public List<CheckedNode> all() {
        return List.copyOf(kept.values());
    }

    /** Renews the proof at once, because there was none while there was no connection. */
    public void onConnected() {
        if (!kept.isEmpty()) {
            checkAll();
        }
    }

    /** Ends all holds, because the session has ended. */
    public void onEnded(State how) {
        all().forEach(node -> node.endAtOnce(
                "the ZooKeeper session 0x" + Long.toHexString(session.zk().sessionId()) + " has ended (" + how + ")"));
    }

    /** Returns the nanoseconds until all leases are lost, unless a write is committed before. */
    private long lossDue() {
        return session.provenAt() + session.timeoutNanos() - scheduler.nanoTime();
    }

    /** Returns the nanoseconds between two checks, which is also the age from which a lease is checked. */
    private long period() {
        return session.timeoutNanos() / 6;
    }

    private void arm(long delayNanos) {
        scheduler.schedule(Duration.ofNanos(Math.max(0, delayNanos)), this::tick);
        armed = true;
    }

    /** Does what is due, and sets the timer for what is due next. */
    private void tick() {
        armed = false;
        if (session.isOutlived()) {
            if (checksUnderWay == 0 && session.isConnected() && keepsAny) {
                checkAll(); // if the session is alive after all, the answer shows that
            }
            all().forEach(held -> held.lose(Session.OUTLIVED)); // a separate task removes each node from this object
            return;
        }
        all().forEach(CheckedNode::finishEnd);
        if (kept.isEmpty() || session.isEnded()) {
            return;
        }
        long now = scheduler.nanoTime();
        long oldest = kept.values().iterator().next().grantedAt();
        long checkDue = Math.max(oldest - now, checkedAt - now) + period();
        if (checkDue <= 0 && checksUnderWay == 0 && session.isConnected()) {
            checkAll();
            checkDue = period();
        }
        // While a check cannot be sent or is not answered, the only thing to do is to watch for the loss.
        arm(Math.min(checkDue > 0 ? checkDue : period(), lossDue()));
    }

    private void checkAll() {
        checkedAt = scheduler.nanoTime();
        checkedTwice = false;
        check(all());
    }

    /** Checks these nodes. Sends several requests if the paths are too long for one. */
    private void check(List<CheckedNode> nodes) {
        for (List<CheckedNode> part : parts(nodes)) {
            checksUnderWay++;
            List<String> paths = part.stream().map(CheckedNode::nodePath).toList();
            session.check(paths, () -> checksUnderWay == 1, answer -> {
                checksUnderWay--;
                onChecked(part, answer);
            });
        }
    }

    /**
     * Checks the nodes that the server did not look at because an earlier one was missing or may not be read. They are
     * checked in halves: each check finds only one such node, and perhaps all of them are gone.
     */
    private void checkInHalves(List<CheckedNode> unknown) {
        List<CheckedNode> left = unknown.stream()
                .filter(node -> kept.get(node.nodePath()) == node)
                .toList();
        int middle = left.size() / 2;
        check(left.subList(0, middle));
        check(left.subList(middle, left.size()));
    }

    /** Splits the nodes into parts that fit one request each. */
    private List<List<CheckedNode>> parts(List<CheckedNode> nodes) {
        int roomOfAPart = Math.min(PATH_CHARACTERS_PER_CHECK, session.nodes().packetLimit() / PART_OF_A_PACKET);
        List<List<CheckedNode>> parts = new ArrayList<>();
        int room = 0;
        for (CheckedNode node : nodes) {
            int size = AROUND + node.nodePath().length();
            if (parts.isEmpty() || size > room) {
                parts.add(new ArrayList<>());
                room = roomOfAPart;
            }
            parts.get(parts.size() - 1).add(node);
            room -= size;
        }
        return parts;
    }

    /**
     * Handles the answer to a check. If there was no answer, another check follows, at the next connection or with the
     * timer.
     */
    private void onChecked(List<CheckedNode> nodes, Answer<List<OpResult>> answer) {
        if (!answer.isOk() && Session.isCommitted(answer)) {
            int refused = Session.firstRefused(answer);
            if (answer.code() == Code.NONODE) {
                nodes.get(refused).onNodeGone();
            } else {
                // Its deletion would go unnoticed. The other holds must not pay for it.
                nodes.get(refused)
                        .lose("ZooKeeper no longer lets its holder see its node: somebody has changed the ACL");
            }
            checkInHalves(nodes.subList(refused + 1, nodes.size())); // the nodes in front of it exist
        } else if (answer.code() == Code.SESSIONEXPIRED) {
            session.become(State.EXPIRED);
            return;
        } else if (!answer.isOk()) {
            return;
        }
        if (checksUnderWay == 0 && !checkedTwice && !session.isFreshlyProven()) {
            checkedTwice = true;
            scheduler.execute(() -> check(all())); // after the tasks that remove the nodes that are gone
        }
    }
}
