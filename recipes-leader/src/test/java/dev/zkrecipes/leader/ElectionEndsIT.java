// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.leader;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whatever ends a term in order, the next leader begins when this one has stopped: its listener is told of the end and
 * takes its time, and its work does not heed interrupts. No close has a limit here that a test would live to see,
 * unless it sets one.
 */
@Tag("H153")
class ElectionEndsIT extends ServerStage {
    private static final Duration LONG = Duration.ofSeconds(120);
    private static final Duration FOR_EVER = Duration.ofDays(1);
    private static final int LOOKS = 20;
    private final CountDownLatch isTold = new CountDownLatch(1); // that it has to stop
    private final CountDownLatch stop = new CountDownLatch(1);
    private final AtomicInteger atWork = new AtomicInteger(); // calls that have not returned
    private final CompletableFuture<Integer> nextBeganBeside = new CompletableFuture<>();
    private ZooKeeperClient client;
    private ZooKeeperClient rivals;
    private LeaderElection one;
    private LeaderElection next;

    private void open(Duration closeTimeout) throws InterruptedException {
        client = client(settings().closeTimeout(closeTimeout));
        one = new LeaderElection(client, path);
        rivals = client();
        next = new LeaderElection(rivals, path);
        next.addListener(new LeaderListener() {
            @Override
            public void termBegan(Term term) {
                nextBeganBeside.complete(atWork.get());
            }

            @Override
            public void termEnded(Term term) {}
        });
    }

    @AfterEach
    void close() {
        stop.countDown();
    }

    /** How it leads. Whatever its end is, it goes on until the test lets it stop. */
    enum Form {
        LISTENER,
        RUN,
        RUN_ONCE
    }

    /** Who ends it. */
    enum Way {
        ELECTION((client, election) -> election.close()),
        ELECTION_THEN_CLIENT((client, election) -> {
            election.close();
            client.close();
        }),
        CLIENT((client, election) -> client.close()),
        CLIENT_THEN_ELECTION((client, election) -> {
            client.close();
            election.close();
        }),
        BEGUN_THEN_CLIENT((client, election) -> {
            var unused = election.closeAsync();
            client.close();
        }),
        RESIGNATION_THEN_CLIENT((client, election) -> {
            var unused = election.resign();
            client.close();
        }),
        TWO_THREADS_THEN_CLIENT((client, election) -> {
            byTwoThreads(election::close);
            client.close();
        }),
        CLIENT_BY_TWO_THREADS((client, election) -> byTwoThreads(client::close)),
        INTERRUPTED_THREAD((client, election) -> {
            Thread.currentThread().interrupt();
            election.close();
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
            client.close();
            assertThat(Thread.interrupted()).isTrue();
        });

        private final BiConsumer<ZooKeeperClient, LeaderElection> end;

        Way(BiConsumer<ZooKeeperClient, LeaderElection> end) {
            this.end = end;
        }

        private static void byTwoThreads(Runnable close) {
            CompletableFuture<?> other = async(() -> {
                close.run();
                return null;
            });
            close.run();
            Soon.get(other);
        }
    }

    private static <T> CompletableFuture<T> async(Callable<T> call) {
        CompletableFuture<T> done = new CompletableFuture<>();
        new Thread(() -> {
                    try {
                        done.complete(call.call());
                    } catch (Throwable t) {
                        done.completeExceptionally(t);
                    }
                })
                .start();
        return done;
    }

    private void untilItMayStop() {
        while (stop.getCount() > 0) {
            try {
                stop.await();
            } catch (InterruptedException e) {
                isTold.countDown();
            }
        }
    }

    private LeaderListener stopping() {
        return new LeaderListener() {
            @Override
            public void termBegan(Term term) {
                atWork.incrementAndGet();
            }

            @Override
            public void termEnded(Term term) {
                isTold.countDown();
                untilItMayStop();
                atWork.decrementAndGet();
            }
        };
    }

    /** Leads, and the next one stands in the queue. */
    private CompletableFuture<?> lead(Form form) throws InterruptedException {
        CompletableFuture<?> runs = CompletableFuture.completedFuture(null);
        if (form == Form.LISTENER) {
            one.addListener(stopping());
            one.join();
        } else {
            LeaderWork<RuntimeException> work = term -> {
                atWork.incrementAndGet();
                untilItMayStop();
                atWork.decrementAndGet();
            };
            runs = async(() -> {
                try {
                    if (form == Form.RUN) {
                        one.run(work);
                    } else {
                        assertThat(one.runOnce(work)).isFalse();
                    }
                } catch (ClientClosedException e) {
                    assertThat(form).isEqualTo(Form.RUN); // which was to stand again
                }
                return null;
            });
        }
        await().until(() -> atWork.get() == 1);
        theNextStands();
        return runs;
    }

    private void theNextStands() {
        next.join();
        awaitNodes(2);
    }

    /** Gives it the time in which one that is not kept from it would lead. */
    private void assertNobodyElseLeads(CompletableFuture<?> end) throws InterruptedException {
        isTold.await();
        for (int i = 0; i < LOOKS; i++) {
            assertThat(next.participants()).hasSize(2);
        }
        assertThat(next.isLeader()).isFalse();
        assertThat(end).isNotDone();
    }

    private void assertTheNextBegan_whenThisOneHadStopped() {
        assertThat(Soon.get(nextBeganBeside)).isZero();
    }

    static Stream<Arguments> formsAndWays() {
        return Stream.of(Form.values()).flatMap(form -> Stream.of(Way.values()).map(way -> Arguments.of(form, way)));
    }

    @ParameterizedTest
    @MethodSource("formsAndWays")
    void nextLeader_beginsWhenThisOneHasStopped(Form form, Way way) throws Exception {
        open(FOR_EVER);
        CompletableFuture<?> runs = lead(form);
        CompletableFuture<?> end = async(() -> {
            way.end.accept(client, one);
            return null;
        });
        assertNobodyElseLeads(end);
        stop.countDown();
        assertTheNextBegan_whenThisOneHadStopped();
        Soon.get(end);
        Soon.get(runs);
        assertThat(server.children(path)).hasSize(1);
    }

    /** How a call of {@code run} ends by itself. */
    enum Inside {
        RETURNS,
        THROWS,
        LEAVES,
        IS_INTERRUPTED
    }

    /** As in one {@code try} with the client. */
    @ParameterizedTest
    @EnumSource
    void runReturns_whenListenersKnow_andTheNodeIsGone(Inside inside) throws Exception {
        open(FOR_EVER);
        one.addListener(stopping());
        CountDownLatch bothStand = new CountDownLatch(1);
        CompletableFuture<Thread> caller = new CompletableFuture<>();
        CompletableFuture<Integer> end = async(() -> {
            caller.complete(Thread.currentThread());
            try {
                one.runOnce(term -> {
                    bothStand.await();
                    switch (inside) {
                        case RETURNS -> {}
                        case THROWS -> throw new IllegalStateException("thrown on purpose");
                        case LEAVES -> {
                            var unused = one.leave();
                        }
                        case IS_INTERRUPTED -> {
                            Soon.get(caller).interrupt();
                            term.ended().toCompletableFuture().get();
                        }
                    }
                });
            } catch (IllegalStateException | InterruptedException e) {
                assertThat(inside).isIn(Inside.THROWS, Inside.IS_INTERRUPTED);
            }
            return server.children(path).size();
        });
        await().until(() -> atWork.get() == 1);
        theNextStands();
        bothStand.countDown();
        assertNobodyElseLeads(end);
        stop.countDown();
        assertTheNextBegan_whenThisOneHadStopped();
        assertThat(Soon.get(end)).isEqualTo(1);
    }

    @Test
    void closeOfALostTerm_waitsForItsWork() throws Exception {
        open(FOR_EVER);
        CompletableFuture<?> runs = lead(Form.RUN);
        expire(client);
        isTold.await();
        Soon.get(nextBeganBeside);
        CompletableFuture<?> end = async(() -> {
            one.close();
            return atWork.get();
        });
        for (int i = 0; i < LOOKS; i++) {
            next.participants();
        }
        assertThat(end).isNotDone();
        stop.countDown();
        assertThat(Soon.get(end)).isEqualTo(0);
        Soon.get(runs);
    }

    @Test
    void candidateThatWaits_endsAtOnce() throws Exception {
        open(FOR_EVER);
        lead(Form.LISTENER);
        next.close();
        awaitNodes(1);
        await().until(one::isLeader);
    }

    // ---- Called by what it would wait for.

    private enum Place {
        BEGIN,
        END,
        WITHDRAWN,
        WORK,
        EVENT_THREAD
    }

    static Stream<Arguments> placesAndWays() {
        return Stream.of(Place.values())
                .flatMap(place -> Stream.of(Way.ELECTION, Way.CLIENT, Way.ELECTION_THEN_CLIENT)
                        .map(way -> Arguments.of(place, way)));
    }

    @ParameterizedTest
    @MethodSource("placesAndWays")
    void closeByWhatItWouldWaitFor_doesNotWait(Place place, Way way) throws Exception {
        open(FOR_EVER);
        CompletableFuture<Void> returned = new CompletableFuture<>();
        Runnable close = () -> {
            way.end.accept(client, one);
            returned.complete(null);
        };
        one.addListener(new LeaderListener() {
            @Override
            public void termBegan(Term term) {
                if (place == Place.BEGIN) {
                    close.run();
                }
            }

            @Override
            public void termEnded(Term term) {
                if (place == Place.END) {
                    close.run();
                } else if (place == Place.EVENT_THREAD) {
                    untilItMayStop();
                }
            }

            @Override
            public void withdrawn(LockException why) {
                if (place == Place.WITHDRAWN) {
                    close.run();
                }
            }
        });
        CompletableFuture<Boolean> runs = CompletableFuture.completedFuture(true);
        if (place == Place.WORK) {
            runs = async(() -> one.runOnce(term -> close.run()));
        } else {
            one.join();
            if (place != Place.BEGIN) {
                assertThat(one.awaitLeadership(LONG)).isPresent();
            }
        }
        switch (place) {
            case END -> {
                var unused = one.resign();
            }
            case WITHDRAWN -> client.close();
            case EVENT_THREAD ->
                client.zooKeeper().orElseThrow().exists("/", false, (code, p, context, stat) -> close.run(), null);
            default -> {}
        }
        Soon.get(returned);
        stop.countDown();
        Soon.get(runs);
        next.join();
        assertThat(next.awaitLeadership(LONG)).isPresent();
    }

    // ---- When the time is over.

    @ParameterizedTest
    @EnumSource
    void electionThatIsNotOverInTime_keepsItsNode(Form form) throws Exception {
        open(Duration.ofMillis(50));
        CompletableFuture<?> runs = lead(form);
        one.close();
        assertNobodyElseLeads(nextBeganBeside);
        stop.countDown();
        assertTheNextBegan_whenThisOneHadStopped();
        Soon.get(runs);
    }

    @ParameterizedTest
    @EnumSource
    void clientThatIsNotOverInTime_closesAllTheSame(Form form) throws Exception {
        open(Duration.ofMillis(50));
        CompletableFuture<?> runs = lead(form);
        client.close();
        assertThat(Soon.get(nextBeganBeside)).isEqualTo(1);
        stop.countDown();
        Soon.get(runs);
    }

    @Test
    void closedClient_withdrawsItsCandidates_onceEach() throws Exception {
        open(FOR_EVER);
        Diary diary = new Diary();
        one.addListener(diary);
        one.join();
        Term term = one.awaitLeadership(LONG).orElseThrow();
        LeaderElection behind = new LeaderElection(client, path);
        Diary waiting = new Diary();
        behind.addListener(waiting);
        behind.join();
        awaitNodes(2);
        Way.CLIENT_BY_TWO_THREADS.end.accept(client, one);
        for (Diary each : List.of(diary, waiting)) {
            await().until(() -> each.lines.contains("withdrawn ClientClosedException"));
        }
        assertThat(term.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(diary.lines).containsExactly("began 1", "ended 1 RELEASED", "withdrawn ClientClosedException");
        assertThat(waiting.lines).isEqualTo(List.of("withdrawn ClientClosedException"));
        assertThatThrownBy(() -> one.awaitLeadership(LONG)).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(() -> one.run(ignored -> {})).isInstanceOf(ClientClosedException.class);
        Soon.get(one.leave());
        assertThat(server.children(path)).isEmpty();
    }
}
