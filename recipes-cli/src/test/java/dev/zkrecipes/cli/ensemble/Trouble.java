// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.ensemble;

import static org.awaitility.Awaitility.await;

import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EnsembleServer;
import dev.zkrecipes.test.FrozenJvm;
import dev.zkrecipes.test.ZooKeeperEnsemble;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** What is done to the servers and the processes, one thing after the other; each is over before the next begins. */
final class Trouble {
    private static final Duration SESSION = CountingProcess.SESSION;

    private final ZooKeeperEnsemble ensemble;
    private final ZooKeeperClient observer;
    private final List<Process> processes;
    private final Random random;
    private final long begun = System.nanoTime();

    /**
     * Prepares.
     *
     * @param processes the number of each is its index
     */
    Trouble(ZooKeeperEnsemble ensemble, ZooKeeperClient observer, List<Process> processes, Random random) {
        this.ensemble = ensemble;
        this.observer = observer;
        this.processes = List.copyOf(processes);
        this.random = random;
    }

    private interface Step {
        void run() throws InterruptedException;
    }

    /** Everything once, in any order. */
    void makeAll() throws InterruptedException {
        List<Step> steps = new ArrayList<>(
                List.of(this::killLeader, this::cutFromClients, this::cutFromLeader, this::freezeHolder));
        Collections.shuffle(steps, random);
        for (Step step : steps) {
            step.run();
            ensemble.awaitComplete();
        }
        say("all is well");
    }

    private void killLeader() {
        EnsembleServer leader = ensemble.leader();
        say("kills the leader, " + leader);
        leader.kill();
        say("now leads: " + ensemble.leader());
        leader.restart();
    }

    private void cutFromClients() throws InterruptedException {
        EnsembleServer follower = anyFollower();
        say("cuts from its clients " + follower);
        follower.cutFromClients();
        stay(SESSION.multipliedBy(3).dividedBy(2));
        follower.heal();
    }

    private void cutFromLeader() throws InterruptedException {
        EnsembleServer follower = anyFollower();
        // Now and then for so long that the follower notices.
        Duration length = random.nextInt(4) == 0
                ? ZooKeeperEnsemble.SYNC_LIMIT.plus(SESSION)
                : SESSION.plus(SESSION.dividedBy(2));
        say("cuts from its leader for " + length.toMillis() + " ms " + follower);
        follower.cutFrom(ensemble.leader());
        stay(length);
        follower.heal();
    }

    private EnsembleServer anyFollower() {
        List<EnsembleServer> followers = ensemble.followers();
        return followers.get(random.nextInt(followers.size()));
    }

    /** Stops a process that holds a lock until the lock is another's. */
    private void freezeHolder() {
        Way way = Way.values()[random.nextInt(Way.values().length)];
        await().atMost(Duration.ofSeconds(30)).until(() -> tryToFreezeHolder(way));
    }

    private boolean tryToFreezeHolder(Way way) {
        Optional<Participant> holder = holder(way);
        int victim = holder.map(this::number).orElse(-1);
        if (victim < 0) {
            return false;
        }
        try (FrozenJvm frozen = FrozenJvm.freeze(processes.get(victim))) {
            if (!holder(way).map(Participant::node).equals(holder.map(Participant::node))) {
                return false; // it went on before it was stopped
            }
            say("stops process " + victim + ", which holds " + way + " (" + frozen + ")");
            await().atMost(SESSION.multipliedBy(5))
                    .until(() -> holder(way)
                            .filter(now ->
                                    !now.node().equals(holder.orElseThrow().node()))
                            .isPresent());
            return true;
        }
    }

    private Optional<Participant> holder(Way way) {
        try {
            return way.lock(observer).participants().stream()
                    .filter(Participant::holding)
                    .findFirst();
        } catch (LockConnectionException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            throw new AssertionError("nobody interrupts this thread", e);
        }
    }

    private int number(Participant participant) {
        for (int i = 0; i < processes.size(); i++) {
            if (participant.owner().equals(CountingProcess.label(i))) {
                return i;
            }
        }
        return -1;
    }

    private static void stay(Duration length) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(length.toNanos());
    }

    private void say(String what) {
        System.out.printf("%5.1f s: %s%n", (System.nanoTime() - begun) / 1e9, what);
    }
}
