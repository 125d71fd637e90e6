// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.ensemble;

import dev.zkrecipes.test.EnsembleServer;
import dev.zkrecipes.test.ZooKeeperEnsemble;
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

    private static final long BEGUN = System.nanoTime();

    private final ZooKeeperEnsemble ensemble;
    private final Random random;
    private final List<Holder> holders;
    private final List<Step> others;
    private int rounds;

    /**
     * Prepares.
     *
     * @param holders the number of each is its index
     * @param others what is done besides
     */
    Trouble(ZooKeeperEnsemble ensemble, Random random, List<Holder> holders, Step... others) {
        this.ensemble = ensemble;
        this.random = random;
        this.holders = List.copyOf(holders);
        this.others = List.of(others);
    }

    /** One thing. */
    interface Step {
        void run() throws InterruptedException, IOException;
    }

    /** Whoever may hold something. */
    interface Holder {
        boolean isHolding() throws IOException;
    }

    /** Everything again and again, and at least once. */
    void makeAllFor(Duration length) throws InterruptedException, IOException {
        long end = System.nanoTime() + length.toNanos();
        do {
            makeAll();
        } while (System.nanoTime() - end < 0);
    }

    /** Everything once, in any order. */
    private void makeAll() throws InterruptedException, IOException {
        rounds++;
        List<Step> steps = new ArrayList<>(List.of(this::killLeader, this::cutFromClients, this::cutFromLeader));
        steps.addAll(others);
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
        for (int i = 0; i < holders.size(); i++) {
            Optional<EnsembleServer> only = serverOf(i, ensemble).filter(followers::contains);
            if (only.isPresent() && holders.get(i).isHolding()) {
                return only.get();
            }
        }
        return followers.get(0);
    }

    private static void stay(Duration length) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(length.toNanos());
    }

    static void say(String what) {
        System.out.printf("%5.1f s: %s%n", (System.nanoTime() - BEGUN) / 1e9, what);
    }
}
