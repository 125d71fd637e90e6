// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.leader;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A leader whose connection comes and goes, as it does when the servers of an ensemble are restarted in turn. */
@Tag("H148")
class SuspendedTermIT extends ServerStage {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int CUTS = 3;

    private FaultProxy proxy;
    private final Diary diary = new Diary();
    private ZooKeeperClient client;
    private LeaderElection election;

    @BeforeEach
    void open() throws InterruptedException {
        proxy = proxy();
        client = client(proxy);
        election = new LeaderElection(client, path);
        election.addListener(diary);
    }

    private Term suspended() throws InterruptedException {
        election.join();
        Term term = election.awaitLeadership(LONG).orElseThrow();
        cut(term);
        return term;
    }

    private void cut(Term term) {
        proxy.refuse();
        await().until(() -> !term.isValid());
    }

    /** What a thread that waits is told, or is interrupted with. */
    private static CompletableFuture<Boolean> waits(Term term) {
        CompletableFuture<Boolean> told = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                told.complete(term.awaitValid(LONG));
            } catch (InterruptedException | RuntimeException e) {
                told.completeExceptionally(e);
            }
        });
        thread.start();
        await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
        return told;
    }

    /**
     * How often the work has gone on, on each connection, before it is done; begun anew counts, too. No connection comes
     * back before the work {@code hasSeen} this number of losses.
     */
    private int play(LeaderWork<InterruptedException> work, AtomicInteger steps, IntPredicate hasSeen)
            throws Exception {
        try (ZooKeeperClient direct = client()) {
            LeaderElection rival = new LeaderElection(direct, path);
            CompletableFuture<Void> ran = new CompletableFuture<>();
            new Thread(() -> {
                        try {
                            election.run(work);
                            ran.complete(null);
                        } catch (InterruptedException | RuntimeException e) {
                            ran.completeExceptionally(e);
                        }
                    })
                    .start();
            await().until(() -> steps.get() > 0);
            rival.addListener(new LeaderListener() {
                @Override
                public void termBegan(Term term) {
                    var unused = rival.resign(); // and stands again, behind the other
                }

                @Override
                public void termEnded(Term term) {}
            });
            rival.join();
            awaitNodes(2);
            for (int i = 1; i <= CUTS; i++) {
                int losses = i;
                cut(election.term().orElseThrow());
                await().until(() -> hasSeen.test(losses));
                proxy.accept();
                await().until(election::isLeader);
                int before = steps.get();
                await().until(() -> steps.get() > before);
            }
            var unused = election.leave();
            Soon.get(ran);
            var ignored = rival.leave();
        }
        return diary.terms.size();
    }

    @Test
    void loopThatAwaitsProof_keepsItsTerm_atEachLostConnection() throws Exception {
        AtomicInteger steps = new AtomicInteger();
        int terms = play(
                term -> {
                    while (term.awaitValid(LONG)) {
                        steps.incrementAndGet();
                    }
                },
                steps,
                losses -> true);
        assertThat(terms).isEqualTo(1);
    }

    @Test
    void loopThatStopsWithoutProof_movesTheLeadership_atEachLostConnection() throws Exception {
        AtomicInteger steps = new AtomicInteger();
        AtomicInteger stops = new AtomicInteger();
        int terms = play(
                term -> {
                    while (term.isValid()) {
                        steps.incrementAndGet();
                    }
                    stops.incrementAndGet();
                },
                steps,
                losses -> stops.get() >= losses);
        assertThat(terms).isEqualTo(1 + CUTS);
    }

    @Test
    void wait_endsWithItsTime() throws Exception {
        Term term = suspended();
        assertThat(term.awaitValid(Duration.ZERO)).isFalse();
        assertThat(term.awaitValid(Duration.ofMillis(1))).isFalse();
        assertThat(term.awaitValid(Duration.ofMillis(50))).isFalse();
        assertThat(term.state()).isEqualTo(LeaseState.SUSPENDED);
        assertThatThrownBy(() -> term.awaitValid(Duration.ofMillis(-1))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void wait_endsWithTheNextConnection() throws Exception {
        Term term = suspended();
        CompletableFuture<Boolean> told = waits(term);
        proxy.accept();
        assertThat(Soon.get(told)).isTrue();
        assertThat(term.awaitValid(Duration.ZERO)).isTrue();
    }

    @Test
    void wait_endsWithTheTerm() throws Exception {
        Term term = suspended();
        CompletableFuture<Boolean> told = waits(term);
        var unused = election.resign();
        assertThat(Soon.get(told)).isFalse();
        assertThat(term.awaitValid(LONG)).isFalse();
    }

    @Test
    void wait_endsWithALoss() throws Exception {
        Term term = suspended();
        CompletableFuture<Boolean> told = waits(term);
        expire(client);
        proxy.accept();
        assertThat(Soon.get(told)).isFalse();
        assertThat(term.state()).isEqualTo(LeaseState.LOST);
    }

    @Test
    void wait_endsWithAnInterrupt() throws Exception {
        Term term = suspended();
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> term.awaitValid(LONG)).isInstanceOf(InterruptedException.class);
        proxy.accept();
        await().until(term::isValid);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> term.awaitValid(LONG)).isInstanceOf(InterruptedException.class);
    }

    @Test
    void waitOnZooKeepersEventThread_isRefused() throws Exception {
        election.join();
        Term term = election.awaitLeadership(LONG).orElseThrow();
        CompletableFuture<Throwable> refused = new CompletableFuture<>();
        client.zooKeeper()
                .orElseThrow()
                .exists(
                        "/",
                        false,
                        (code, p, context, stat) -> {
                            try {
                                refused.complete(new AssertionError("it returned " + term.awaitValid(LONG)));
                            } catch (InterruptedException | RuntimeException e) {
                                refused.complete(e);
                            }
                        },
                        null);
        assertThat(Soon.get(refused)).isInstanceOf(IllegalStateException.class);
    }
}
