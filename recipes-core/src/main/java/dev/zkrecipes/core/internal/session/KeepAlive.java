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
 * Keeps the state of the leases of one session true. T is the session time-out.
 *
 * <ul>
 *   <li>While the session holds a lease that is older than T/6, one {@code multi} of checks is sent every T/6. It
 *       names all nodes that the session holds. The answer comes with a commit, so it renews the proof that the
 *       session lives, and it tells if a node is gone.
 *   <li>If the proof is good for less than another third of T after that, because answers are slow or the process
 *       stood still, a second check follows at once. It proves more, see {@link SessionReports}.
 *   <li>Once T has passed since the last committed write was sent, every lease is lost, whatever a server says later.
 * </ul>
 *
 * <p>Nothing is sent for a session that holds nothing. Confined to the engine thread.
 */
public final class KeepAlive {
    /** Keeps a check far below ZooKeeper's packet limit of 1 MiB, even if each character takes several bytes. */
    private static final int PATH_CHARACTERS_PER_CHECK = 100_000;

    /** A held node, which is checked until it ends. */
    public interface CheckedNode {
        String nodePath();

        /** When it was granted, by the engine's clock. */
        long grantedAt();

        /** Ends it as lost, if it has not ended. It then need not be checked any longer. */
        void lose(String reason);

        /**
         * Its session or its client is over. Ends it as lost, if it has not ended, and has its node deleted, even if
         * the thread that is releasing it has not come to that yet.
         */
        void endAtOnce(String reason);

        /** The node is gone. It is lost, unless we have deleted it ourselves. */
        void onNodeGone();

        /** If it has ended, does what follows from that: the thread that ended it may have died before it could. */
        void finishEnd();

        /** The client was closed, so nobody is left to delete the node. */
        void abandon();
    }

    private final Session session;
    private final EngineScheduler scheduler;
    private final Map<String, CheckedNode> kept = new LinkedHashMap<>(); // by path of the node, the oldest first
    private volatile boolean keepsAny; // a copy for other threads
    private boolean armed; // whether the timer is set
    private int checksUnderWay;
    private boolean checkedTwice; // whether a second check has followed the last one already
    private long checkedAt; // when the last check of all nodes was sent

    public KeepAlive(Session session, EngineScheduler scheduler) {
        this.session = session;
        this.scheduler = scheduler;
        this.checkedAt = scheduler.nanoTime();
    }

    /** A node was granted. No check is due for it before it is older than T/6. */
    public void add(CheckedNode node) {
        kept.put(node.nodePath(), node);
        keepsAny = true;
        if (!armed) {
            arm(Math.min(period(), lossDue()));
        }
    }

    /** A node has ended. */
    public void remove(CheckedNode node) {
        kept.remove(node.nodePath(), node);
        keepsAny = !kept.isEmpty();
    }

    /**
     * Another request of this session was waiting for a node that is held here, and has heard that the node is gone.
     */
    public void onNodeGone(String nodePath) {
        CheckedNode held = kept.get(nodePath);
        if (held != null) {
            held.onNodeGone();
        }
    }

    /** Whether the session holds anything. Any thread. */
    boolean keepsAny() {
        return keepsAny;
    }

    public List<CheckedNode> all() {
        return List.copyOf(kept.values());
    }

    /** There was no proof while there was no connection, so it is renewed at once. */
    public void onConnected() {
        if (!kept.isEmpty()) {
            checkAll();
        }
    }

    /** The session has ended, and with it all that it holds. */
    public void onEnded(State how) {
        all().forEach(node -> node.endAtOnce(
                "the ZooKeeper session 0x" + Long.toHexString(session.zk().sessionId()) + " has ended (" + how + ")"));
    }

    /** The nanoseconds until all leases are lost, if no write is committed before. */
    private long lossDue() {
        return session.provenAt() + session.timeoutNanos() - scheduler.nanoTime();
    }

    /** The nanoseconds between two checks, and the age from which a lease is checked. */
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
                checkAll(); // if the session lives after all, the answer says so
            }
            all().forEach(held -> held.lose(Session.OUTLIVED)); // each is removed here by a task of its own
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
        // While a check cannot be sent, or is not answered, there is nothing to do but to watch for the loss.
        arm(Math.min(checkDue > 0 ? checkDue : period(), lossDue()));
    }

    private void checkAll() {
        checkedAt = scheduler.nanoTime();
        checkedTwice = false;
        check(all());
    }

    /** Checks these nodes, with more than one request if their paths are too long for one. */
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
     * Checks the nodes at which the server did not look, because an earlier one was missing. They are checked in
     * halves: each check finds only one missing node, and perhaps all of them are gone.
     */
    private void checkInHalves(List<CheckedNode> unknown) {
        List<CheckedNode> left = unknown.stream()
                .filter(node -> kept.get(node.nodePath()) == node)
                .toList();
        int middle = left.size() / 2;
        check(left.subList(0, middle));
        check(left.subList(middle, left.size()));
    }

    /** Divides the nodes so that each part fits one request. */
    private static List<List<CheckedNode>> parts(List<CheckedNode> nodes) {
        List<List<CheckedNode>> parts = new ArrayList<>();
        int room = 0;
        for (CheckedNode node : nodes) {
            if (parts.isEmpty() || node.nodePath().length() > room) {
                parts.add(new ArrayList<>());
                room = PATH_CHARACTERS_PER_CHECK;
            }
            parts.get(parts.size() - 1).add(node);
            room -= node.nodePath().length();
        }
        return parts;
    }

    /**
     * A check was answered. One that got no answer is followed by another, at the next connection or with the timer.
     */
    private void onChecked(List<CheckedNode> nodes, Answer<List<OpResult>> answer) {
        if (answer.code() == Code.NONODE) {
            int missing = Session.firstMissing(answer.value());
            nodes.get(missing).onNodeGone();
            checkInHalves(nodes.subList(missing + 1, nodes.size())); // those in front of it exist
        } else if (answer.code() == Code.SESSIONEXPIRED) {
            session.become(State.EXPIRED);
            return;
        } else if (!answer.isOk()) {
            return;
        }
        if (checksUnderWay == 0 && !checkedTwice && !session.isFreshlyProven()) {
            checkedTwice = true;
            scheduler.execute(() -> check(all())); // after the tasks that take out the nodes that are gone
        }
    }
}
