// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.OpResult;

/**
 * Keeps the leases of one session true. While the session holds a lease older than T/6, it sends every T/6 one
 * {@code multi} of checks that names all nodes it holds: committed, it renews the session's proof; failed, it tells
 * which node is gone. When T has passed since the last proof, every lease is lost, without asking anybody.
 *
 * <p>Confined to the engine thread.
 */
public final class KeepAlive {
    /** Keeps a check far below ZooKeeper's packet limit of 1 MiB, also if the paths are not of ASCII. */
    private static final int PATH_CHARACTERS_PER_CHECK = 100_000;

    private final Session session;
    private final EngineScheduler scheduler;
    private final Set<HeldNode> grants = new LinkedHashSet<>();
    private boolean armed;
    private int checksUnderWay;
    private long checkedAt;

    public KeepAlive(Session session, EngineScheduler scheduler) {
        this.session = session;
        this.scheduler = scheduler;
        this.checkedAt = scheduler.nanoTime();
    }

    public void add(HeldNode grant) {
        grants.add(grant);
        if (!armed) {
            arm(Math.min(period(), lossDue()));
        }
    }

    public void remove(HeldNode grant) {
        grants.remove(grant);
    }

    public boolean isEmpty() {
        return grants.isEmpty();
    }

    public List<HeldNode> all() {
        return List.copyOf(grants);
    }

    /** The proof was void while there was no connection: renew it at once. */
    public void onConnected() {
        if (!grants.isEmpty()) {
            check(all());
        }
    }

    public void onEnded(State how) {
        all().forEach(grant -> grant.lose(
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
        armed = true;
        scheduler.schedule(Duration.ofNanos(Math.max(0, delayNanos)), this::tick);
    }

    private void tick() {
        armed = false;
        try {
            keep();
        } finally {
            if (!armed && !grants.isEmpty() && !session.isEnded()) {
                arm(period());
            }
        }
    }

    private void keep() {
        if (session.isOutlived()) {
            all().forEach(HeldNode::state); // finds that it is lost, and removes it a little later
            return;
        }
        if (grants.isEmpty() || session.isEnded()) {
            return;
        }
        long now = scheduler.nanoTime();
        long oldest = grants.iterator().next().grantedAt();
        long checkDue = Math.max(oldest - now, checkedAt - now) + period();
        if (checkDue <= 0 && checksUnderWay == 0 && session.isConnected()) {
            check(all());
            checkDue = period();
        }
        // While a check cannot be sent or is not answered there is nothing to do but to watch for the loss.
        arm(Math.min(checkDue > 0 ? checkDue : period(), lossDue()));
    }

    private void check(List<HeldNode> nodes) {
        checkedAt = scheduler.nanoTime();
        for (List<HeldNode> part : parts(nodes)) {
            checksUnderWay++;
            List<String> paths = part.stream().map(HeldNode::nodePath).toList();
            session.check(paths, answer -> {
                checksUnderWay--;
                onChecked(part, answer);
            });
        }
    }

    private static List<List<HeldNode>> parts(List<HeldNode> nodes) {
        List<List<HeldNode>> parts = new ArrayList<>();
        int room = 0;
        for (HeldNode grant : nodes) {
            if (parts.isEmpty() || grant.nodePath().length() > room) {
                parts.add(new ArrayList<>());
                room = PATH_CHARACTERS_PER_CHECK;
            }
            parts.get(parts.size() - 1).add(grant);
            room -= grant.nodePath().length();
        }
        return parts;
    }

    private void onChecked(List<HeldNode> nodes, Answer<List<OpResult>> answer) {
        if (answer.code() == Code.NONODE) {
            HeldNode missing = nodes.get(Session.firstMissing(answer.value()));
            missing.lose("its node was deleted by somebody else");
            // The multi as a whole failed, so the other nodes are not confirmed yet.
            List<HeldNode> others = nodes.stream()
                    .filter(grant -> grant != missing && grants.contains(grant))
                    .toList();
            if (!others.isEmpty()) {
                check(others);
            }
        } else if (answer.code() == Code.SESSIONEXPIRED) {
            session.become(State.EXPIRED);
        }
    }
}
