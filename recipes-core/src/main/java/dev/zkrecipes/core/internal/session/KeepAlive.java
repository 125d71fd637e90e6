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
 * Keeps the state of the leases of one session true. While the session holds a lease older than T/6, it sends every T/6
 * one {@code multi} of checks that names all nodes it holds. Its answer, which is committed, renews the session's
 * proof, and tells if a node is gone. If the proof is still good for less than another third of T, because answers are
 * slow or the process stood still, a second check follows at once, which proves more, see {@link SessionReports}. When
 * T has passed since the last committed write, every lease is lost, without asking anybody. Confined to the engine
 * thread.
 */
public final class KeepAlive {
    /** Keeps a check far below ZooKeeper's packet limit of 1 MiB, also if the paths are not of ASCII. */
    private static final int PATH_CHARACTERS_PER_CHECK = 100_000;

    /** A held node, which the session checks until it ends. */
    public interface CheckedNode {
        String nodePath();

        long grantedAt();

        /** Ends it as lost, if it has not ended; the session need not keep it any longer. */
        void lose(String reason);

        /**
         * Its session or its client is over: ends it, as lost if it has not ended, and has its node deleted, also if a
         * thread that is just releasing it has not come to that.
         */
        void endAtOnce(String reason);

        /** The node is gone. If that was not our doing, it is lost. */
        void onNodeGone();

        /** If it has ended, does what its end brings, should the thread that ended it have died before. */
        void finishEnd();

        /** The client was closed: nobody is left to delete the node. */
        void abandon();
    }

    private final Session session;
    private final EngineScheduler scheduler;
    private final Map<String, CheckedNode> kept = new LinkedHashMap<>(); // by path of the node, the oldest first
    private volatile boolean keepsAny;
    private boolean armed;
    private int checksUnderWay;
    private boolean checkedTwice;
    private long checkedAt;

    public KeepAlive(Session session, EngineScheduler scheduler) {
        this.session = session;
        this.scheduler = scheduler;
        this.checkedAt = scheduler.nanoTime();
    }

    public void add(CheckedNode node) {
        kept.put(node.nodePath(), node);
        keepsAny = true;
        if (!armed) {
            arm(Math.min(period(), lossDue()));
        }
    }

    public void remove(CheckedNode node) {
        kept.remove(node.nodePath(), node);
        keepsAny = !kept.isEmpty();
    }

    /** Another request was waiting for a node of this session, and hears that it is gone. */
    public void onNodeGone(String nodePath) {
        CheckedNode held = kept.get(nodePath);
        if (held != null) {
            held.onNodeGone();
        }
    }

    /** Any thread. */
    boolean keepsAny() {
        return keepsAny;
    }

    public List<CheckedNode> all() {
        return List.copyOf(kept.values());
    }

    /** The proof was void while there was no connection: renew it at once. */
    public void onConnected() {
        if (!kept.isEmpty()) {
            checkAll();
        }
    }

    public void onEnded(State how) {
        all().forEach(node -> node.endAtOnce(
                "the ZooKeeper session 0x" + Long.toHexString(session.zk().sessionId()) + " has ended (" + how + ")"));
    }

    /** Nanoseconds until the leases are lost if nothing is heard. */
    private long lossDue() {
        return session.provenAt() + session.timeoutNanos() - scheduler.nanoTime();
    }

    private long period() {
        return session.timeoutNanos() / 6;
    }

    private void arm(long delayNanos) {
        scheduler.schedule(Duration.ofNanos(Math.max(0, delayNanos)), this::tick);
        armed = true;
    }

    private void tick() {
        armed = false;
        if (session.isOutlived()) {
            if (checksUnderWay == 0 && session.isConnected() && keepsAny) {
                checkAll(); // whose answer tells that the session lives, if it does
            }
            all().forEach(held -> held.lose(Session.OUTLIVED)); // which removes it a little later
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
        // While a check cannot be sent or is not answered there is nothing to do but to watch for the loss.
        arm(Math.min(checkDue > 0 ? checkDue : period(), lossDue()));
    }

    private void checkAll() {
        checkedAt = scheduler.nanoTime();
        checkedTwice = false;
        check(all());
    }

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

    /** The server stopped in front of these. In halves, for if all of them are gone, each check finds one. */
    private void checkInHalves(List<CheckedNode> unknown) {
        List<CheckedNode> left = unknown.stream()
                .filter(node -> kept.get(node.nodePath()) == node)
                .toList();
        int middle = left.size() / 2;
        check(left.subList(0, middle));
        check(left.subList(middle, left.size()));
    }

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

    private void onChecked(List<CheckedNode> nodes, Answer<List<OpResult>> answer) {
        if (answer.code() == Code.NONODE) {
            int missing = Session.firstMissing(answer.value());
            nodes.get(missing).onNodeGone();
            checkInHalves(nodes.subList(missing + 1, nodes.size())); // those in front of it were there
        } else if (answer.code() == Code.SESSIONEXPIRED) {
            session.become(State.EXPIRED);
            return;
        } else if (!answer.isOk()) {
            return;
        }
        if (checksUnderWay == 0 && !checkedTwice && !session.isFreshlyProven()) {
            checkedTwice = true;
            scheduler.execute(() -> check(all())); // when those that are gone have been taken out
        }
    }
}
