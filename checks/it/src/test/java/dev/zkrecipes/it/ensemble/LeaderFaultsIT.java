// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.ensemble;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.leader.LeaderElection;
import dev.zkrecipes.leader.Term;
import dev.zkrecipes.test.EnsembleServer;
import dev.zkrecipes.test.ZooKeeperEnsemble;
import dev.zkrecipes.test.internal.Seed;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.Op;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Three candidates of ours and three latches of Curator's lead in turn on three servers, while the leader of the ensemble is
 * killed and followers are cut off. Each term writes at its end without asking whether it still stands. No term claims to
 * be valid after the next of ours began, no late write gets through, all lead again afterwards, and no node is left.
 *
 * <p>{@code -Densemble.seconds=600} runs for longer. {@code -Dzkrecipes.seed=N} repeats the choices of a run.
 */
@Tag("soak")
@Timeout(1200)
class LeaderFaultsIT {
    private static final int OURS = 3;
    private static final int ALL = 6;
    private static final String NAME = "leader";
    private static final int SESSION_MILLIS = (int) CountingProcess.SESSION.toMillis();

    private final Seed seed = Seed.forTest("LeaderFaultsIT");
    private final Duration length = Duration.ofSeconds(Integer.getInteger("ensemble.seconds", 60));
    private final AtomicIntegerArray terms = new AtomicIntegerArray(ALL);
    private final ConcurrentLinkedQueue<Hold> holds = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Write> writes = new ConcurrentLinkedQueue<>();
    private final List<LeaderElection> elections = new ArrayList<>();
    private final List<Future<?>> ours = new ArrayList<>();
    private final List<Future<?>> latches = new ArrayList<>();
    private volatile boolean stopped;

    @Test
    void terms_doNotOverlap_besideCuratorsLatches_underFaultsOfServers() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(ALL);
        List<ZooKeeperClient> clients = new ArrayList<>();
        try (ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.start();
                Store store = new Store(ensemble.connectString())) {
            store.prepare(List.of(NAME));
            for (int i = 0; i < OURS; i++) {
                int number = i;
                String server = Trouble.serverOf(i, ensemble)
                        .map(EnsembleServer::connectString)
                        .orElseThrow();
                clients.add(ZooKeeperClient.builder()
                        .connectString(server)
                        .sessionTimeout(CountingProcess.SESSION)
                        .build());
                LeaderElection election = new LeaderElection(clients.get(i), Way.path(NAME));
                elections.add(election);
                ours.add(threads.submit(() -> lead(number, election, ensemble.connectString())));
            }
            for (int i = OURS; i < ALL; i++) {
                int number = i;
                latches.add(threads.submit(() -> latch(number, ensemble.connectString())));
            }
            awaitATermOfEach();
            List<Trouble.Holder> holders = new ArrayList<>();
            elections.forEach(election -> holders.add(election::isLeader));
            new Trouble(ensemble, seed.random(ALL), holders).makeAllFor(length);
            awaitATermOfEach();
            stop();
            store.catchUp();
            assertThat(store.nodesBelow(Way.path(NAME))).isEmpty();
            judge(store);
        } finally {
            clients.forEach(ZooKeeperClient::close);
            threads.shutdownNow();
        }
    }

    private Void lead(int number, LeaderElection election, String servers) throws Exception {
        Random random = seed.random(number);
        try (Store store = new Store(servers)) {
            election.run(term -> work(number, term, store, random));
            return null;
        }
    }

    /** Does not heed the end of the term. */
    private void work(int number, Term term, Store store, Random random) throws IOException {
        Op guard = term.guard();
        long begun = System.nanoTime();
        long lastValidAt = begun - 1;
        long stay = Duration.ofMillis(random.nextInt(16) == 0 ? 4000 : random.nextInt(150))
                .toNanos();
        while (System.nanoTime() - begun < stay && !stopped) {
            long asked = System.nanoTime();
            lastValidAt = term.isValid() ? asked : lastValidAt;
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
            Thread.interrupted();
        }
        String id = "term-" + number + "-" + terms.get(number);
        Write.Outcome outcome = Write.Outcome.UNKNOWN;
        try {
            outcome = store.increment(List.of(NAME), List.of(guard), id, term.number());
        } catch (InterruptedException e) {
            // The term ended while the answer was awaited.
        }
        writes.add(new Write(id, List.of(NAME), outcome));
        holds.add(new Hold(NAME, true, term.number(), begun, lastValidAt));
        terms.incrementAndGet(number);
    }

    private Void latch(int number, String servers) throws Exception {
        Random random = seed.random(number);
        try (CuratorFramework curator =
                CuratorFrameworkFactory.newClient(servers, SESSION_MILLIS, SESSION_MILLIS, new RetryForever(200))) {
            curator.start();
            while (!stopped) {
                try (LeaderLatch latch = new LeaderLatch(curator, Way.path(NAME), "latch-" + number)) {
                    latch.start();
                    if (latch.await(120, TimeUnit.SECONDS)) {
                        TimeUnit.MILLISECONDS.sleep(random.nextInt(150));
                        terms.incrementAndGet(number);
                    }
                }
            }
            return null;
        }
    }

    private void awaitATermOfEach() {
        int[] before = IntStream.range(0, ALL).map(terms::get).toArray();
        await().atMost(Duration.ofMinutes(3))
                .failFast(
                        "a candidate has ended",
                        () -> ours.stream().anyMatch(Future::isDone)
                                || latches.stream().anyMatch(Future::isDone))
                .untilAsserted(() ->
                        assertThat(IntStream.range(0, ALL)).allMatch(i -> terms.get(i) > before[i], "leads again"));
    }

    /** Curator's sessions end, and with them whatever nodes its latches left. */
    private void stop() throws Exception {
        stopped = true;
        elections.forEach(LeaderElection::close);
        for (List<Future<?>> all : List.of(ours, latches)) {
            for (Future<?> each : all) {
                each.get(1, TimeUnit.MINUTES);
            }
        }
    }

    private void judge(Store store) throws Exception {
        System.out.println("terms of ours and of Curator's: " + terms + "; late writes refused: "
                + writes.stream()
                        .filter(write -> write.outcome() == Write.Outcome.REFUSED)
                        .count());
        assertThat(RunVerdict.violations(
                        List.copyOf(holds),
                        List.copyOf(writes),
                        Map.of(NAME, store.value(NAME)),
                        Map.of(NAME, store.history(NAME))))
                .isEmpty();
    }
}
