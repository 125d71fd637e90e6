// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.ensemble;

import static org.awaitility.Awaitility.await;

import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EnsembleServer;
import dev.zkrecipes.test.ZooKeeperEnsemble;
import dev.zkrecipes.test.internal.FrozenJvm;
import java.io.IOException;
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
    private final List<Diary> diaries;
    private final Random random;
    private final long begun = System.nanoTime();
    private int rounds;

    /**
     * Prepares.
     *
     * @param processes the number of each is its index
     * @param diaries theirs
     */
    Trouble(
            ZooKeeperEnsemble ensemble,
            ZooKeeperClient observer,
            List<Process> processes,
            List<Diary> diaries,
            Random random) {
        this.ensemble = ensemble;
        this.observer = observer;
        this.processes = List.copyOf(processes);
        this.diaries = List.copyOf(diaries);
        this.random = random;
    }

    private interface Step {
        void run() throws InterruptedException, IOException;
    }

    /** Everything once, in any order. */
    void makeAll() throws InterruptedException, IOException {
        rounds++;
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

    private void cutFromClients() throws InterruptedException, IOException {
        EnsembleServer follower = anyFollower();
        say("cuts from its clients " + follower);
        follower.cutFromClients();
        stay(SESSION.multipliedBy(3).dividedBy(2));
        follower.heal();
    }

    private void cutFromLeader() throws InterruptedException, IOException {
        EnsembleServer follower = anyFollower();
        // Now and then, but not in the short form, for so long that the follower notices.
        Duration length = rounds > 1 && random.nextInt(3) == 0
                ? ZooKeeperEnsemble.SYNC_LIMIT.plus(SESSION)
                : SESSION.plus(SESSION.dividedBy(2));
        say("cuts from its leader for " + length.toMillis() + " ms " + follower);
        follower.cutFrom(ensemble.leader());
        stay(length);
        follower.heal();
    }

    /**
     * Half of the processes know one server only: when that is cut off they cannot save their sessions at another one.
     *
     * @return the only server that a process knows; empty if it knows all
     */
    static Optional<EnsembleServer> serverOf(int process, ZooKeeperEnsemble ensemble) {
        List<EnsembleServer> servers = ensemble.servers();
        return process < 2 * servers.size() ? Optional.of(servers.get(process % servers.size())) : Optional.empty();
    }

    /** A server with a holder that knows no other server, if there is one. */
    private EnsembleServer anyFollower() throws IOException {
        List<EnsembleServer> followers = new ArrayList<>(ensemble.followers());
        Collections.shuffle(followers, random);
        for (int i = 0; i < processes.size(); i++) {
            Optional<EnsembleServer> only = serverOf(i, ensemble).filter(followers::contains);
            if (only.isPresent() && diaries.get(i).stay().isPresent()) {
                return only.get();
            }
        }
        return followers.get(0);
    }

    /**
     * Stops a process in the middle of a long stay until the lock is another's, and lets it do its late write. Again, if it
     * was the end of the stay, and the write was on its way already.
     */
    private void freezeHolder() {
        await().atMost(Duration.ofMinutes(3)).until(this::tryToFreezeHolder);
    }

    private boolean tryToFreezeHolder() throws IOException {
        int victim = random.nextInt(processes.size());
        Optional<Diary.Stay> staying = diaries.get(victim).stay();
        return staying.isPresent() && freeze(victim, staying.get());
    }

    private boolean freeze(int victim, Diary.Stay stay) throws IOException {
        try (FrozenJvm frozen = FrozenJvm.freeze(processes.get(victim))) {
            Optional<Participant> held = holder(stay.way());
            if (held.isEmpty() || !held.get().owner().equals(CountingProcess.label(victim))) {
                return false; // it went on before it was stopped
            }
            say("stops process " + victim + ", which holds " + stay.way() + " (" + frozen + ")");
            String node = held.get().node();
            await().atMost(Duration.ofMinutes(1))
                    .until(() -> holder(stay.way())
                            .filter(next -> !next.node().equals(node))
                            .isPresent());
        }
        await().atMost(Duration.ofMinutes(1))
                .until(() -> diaries.get(victim).outcome(stay).isPresent());
        return diaries.get(victim).outcome(stay).equals(Optional.of(Write.Outcome.REFUSED));
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

    private static void stay(Duration length) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(length.toNanos());
    }

    private void say(String what) {
        System.out.printf("%5.1f s: %s%n", (System.nanoTime() - begun) / 1e9, what);
    }
}
