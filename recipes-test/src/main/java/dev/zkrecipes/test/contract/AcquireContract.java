// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.internal.Remains;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * All ways to request a lock, combined with all ways in which other holders, a time limit or the caller can end the
 * request while there is a session. Each method tests one ending, with each way to request the lock that can end like
 * this. Whatever the ending, the request leaves nothing behind. {@link InterruptContract} tests interrupts.
 */
public abstract class AcquireContract extends Stage {
    private static final String FLAVOUR = "dev.zkrecipes.test.contract.Flavour#";
    private static final Duration SHORT = Duration.ofMillis(600);
    private static final Duration LONGEST = Duration.ofSeconds(9);
    /** How late a thread may run on a machine that is not overloaded. */
    private static final Duration LATE = Duration.ofMillis(700);

    private static final int TIME_OUTS = 300;

    /** Creates the suite; the test of a recipe extends it. */
    protected AcquireContract() {}

    /**
     * If the rival could be held beside the lock, no request would wait, and the other tests would not test what their
     * names say.
     */
    @Test
    void rival_cannotBeHeldBesideTheLock() throws InterruptedException {
        String advice =
                "the lock under test and the rival of its recipe are held together: name a rival that conflicts,"
                        + " such as the write lock for a read lock, or all permits for one permit";
        Lease held = scene.lock.acquire();
        assertThat(scene.rival.tryAcquire()).as(advice).isEmpty();
        held.close();
        held = scene.rival.acquire();
        assertThat(scene.lock.tryAcquire()).as(advice).isEmpty();
        held.close();
        scene.assertNothingLeft();
    }

    // ---- With the lock.

    @ParameterizedTest
    @EnumSource
    void freeLock_isGranted(Flavour flavour) throws InterruptedException {
        Request request = Request.of(workers, flavour, scene.lock);
        request.outcome().assertGranted();
        request.outcome().assertInterrupted(false);
        scene.assertAcquired(true);
        scene.assertHeld();
        assertThat(scene.rival.tryAcquire()).isEmpty();
        request.giveBack();
        scene.assertNothingLeft();
    }

    @ParameterizedTest
    @MethodSource(FLAVOUR + "waiting")
    void heldLock_isGrantedWhenItIsReleased(Flavour flavour) throws InterruptedException {
        Lease held = scene.rival.acquire();
        Request request = Request.of(workers, flavour, scene.lock);
        scene.awaitWaiting();
        request.assertWaits();
        scene.assertAcquired(false);
        held.close();
        request.outcome().assertGranted();
        request.outcome().assertInterrupted(false);
        assertThat(scene.rival.tryAcquire()).isEmpty();
        request.giveBack();
        scene.assertNothingLeft();
    }

    // ---- Without the lock, because others have it.

    @ParameterizedTest
    @MethodSource(FLAVOUR + "trying")
    @Tag("H55")
    void tryOnAHeldLock_isNotGranted_andWritesNothing(Flavour flavour) throws InterruptedException {
        Lease held = scene.rival.acquire();
        RequestCounts before = contenders.proxy.requestsSeen();
        Request request = Request.of(workers, flavour, scene.lock);
        request.outcome().assertNotGranted();
        assertNothingWasWrittenSince(before);
        held.close();
        scene.assertNothingLeft();
    }

    @ParameterizedTest
    @MethodSource(FLAVOUR + "timed")
    void zeroTimeout_onlyTries(Flavour flavour) throws InterruptedException {
        Lease held = scene.rival.acquire();
        RequestCounts before = contenders.proxy.requestsSeen();
        Request request = Request.limited(workers, flavour, scene.lock, Duration.ZERO);
        request.outcome().assertNotGranted();
        assertNothingWasWrittenSince(before);
        held.close();
        scene.assertNothingLeft();
    }

    private void assertNothingWasWrittenSince(RequestCounts before) {
        RequestCounts sent = contenders.proxy.requestsSeen().minus(before);
        assertThat(Step.writes(sent)).as(sent.toString()).isZero();
    }

    @Test
    void negativeTimeout_isRejected() throws InterruptedException {
        assertThatThrownBy(() -> scene.lock.tryAcquire(Duration.ofNanos(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT-0.000000001S");
        Lease held = scene.rival.acquire();
        for (long negative : new long[] {-1, Long.MIN_VALUE}) {
            assertThat(scene.lock.asLock().tryLock(negative, TimeUnit.DAYS))
                    .as("tryLock(%d, DAYS) of a lock that the rival holds", negative)
                    .isFalse();
        }
        held.close();
        scene.assertNothingLeft();
    }

    @ParameterizedTest
    @MethodSource(FLAVOUR + "timed")
    void longestTimeout_isNoTimeout(Flavour flavour) throws InterruptedException {
        Lease held = scene.rival.acquire();
        Request request = Request.limited(workers, flavour, scene.lock, Duration.ofNanos(Long.MAX_VALUE));
        scene.awaitWaiting();
        held.close();
        request.outcome().assertGranted();
        request.giveBack();
        scene.assertNothingLeft();
    }

    @ParameterizedTest
    @MethodSource(FLAVOUR + "timed")
    @Tag("H36")
    void timedOutWaiter_isNotGrantedAfterwards_butTheNextRequestIs(Flavour flavour) throws InterruptedException {
        Lease held = scene.rival.acquire();
        Duration limit = SHORT;
        Request.Outcome outcome = timedOut(flavour, limit);
        while (outcome.isUnanswered()
                && limit.compareTo(LONGEST) < 0) { // a slow machine needs more time to see the lock
            limit = limit.multipliedBy(4);
            outcome = timedOut(flavour, limit);
        }
        outcome.assertNotGranted();
        outcome.assertInterrupted(false);
        outcome.assertTook(limit, limit.plus(LATE));
        held.close();
        scene.lock.tryAcquire().orElseThrow().close();
        scene.assertNothingLeft();
    }

    private Request.Outcome timedOut(Flavour flavour, Duration limit) throws InterruptedException {
        Request request = Request.limited(workers, flavour, scene.lock, limit);
        scene.awaitWaiting(request);
        return request.outcome();
    }

    @Test
    @Tag("H42")
    @Tag("soak")
    void timedOutAcquires_leaveNoNodeAndAtMostOneWatch() throws InterruptedException {
        Lease held = scene.rival.acquire();
        // The first request certainly waits behind a watch; the many others may end at any step.
        CompletableFuture<Lease> certain = scene.lock.acquireAsync();
        scene.awaitWaiting();
        certain.cancel(false);
        for (int i = 0; i < TIME_OUTS; i++) {
            assertThat(isGrantedWithin(Duration.ofMillis(1)))
                    .as("acquire %d is granted beside the rival", i)
                    .isFalse();
        }
        scene.awaitOnlyTheRival();
        await().untilAsserted(() -> assertThat(Remains.of(contenders.client)).isEmpty());
        // The client cannot remove the server's side of a watch on a node that still exists.
        await().untilAsserted(() -> assertThat(contenders.watches()).isLessThanOrEqualTo(1));
        held.close();
        scene.assertNothingLeft();
    }

    /** Whether the lock is granted within this time. The time may be too short to read the state of the lock at all. */
    private boolean isGrantedWithin(Duration limit) throws InterruptedException {
        try {
            return scene.lock.tryAcquire(limit).isPresent();
        } catch (LockConnectionException e) {
            return false;
        }
    }

    // ---- Given up.

    /** All ways in which a caller ends a future that it no longer wants. */
    static Stream<Named<Consumer<CompletableFuture<Lease>>>> renunciations() {
        return Stream.of(
                Named.of("cancel", wanted -> wanted.cancel(true)),
                Named.of("complete", wanted -> wanted.complete(null)),
                Named.of("fail", wanted -> wanted.completeExceptionally(new IllegalStateException("no longer"))),
                Named.of("time out", wanted -> wanted.orTimeout(1, TimeUnit.MILLISECONDS)));
    }

    @ParameterizedTest
    @MethodSource("renunciations")
    void futureEndedByTheCaller_leavesTheQueue(Consumer<CompletableFuture<Lease>> renunciation)
            throws InterruptedException {
        Lease held = scene.rival.acquire();
        CompletableFuture<Lease> wanted = scene.lock.acquireAsync();
        scene.awaitWaiting();
        renunciation.accept(wanted);
        scene.awaitOnlyTheRival();
        held.close();
        scene.assertNothingLeft();
    }

    @Test
    void futureCancelledAsItIsGranted_releasesTheLock() throws InterruptedException {
        for (int i = 0; i < 200; i++) {
            CompletableFuture<Lease> wanted = scene.lock.acquireAsync();
            scene.nodes(); // takes a short time that varies
            if (!wanted.cancel(true)) {
                wanted.join().close();
            }
        }
        scene.assertNothingLeft();
    }

    // ---- Refused.

    @ParameterizedTest
    @MethodSource(FLAVOUR + "blocking")
    @Tag("H34")
    void blockingOnTheEventThread_isRefused(Flavour flavour) throws InterruptedException {
        CompletableFuture<Optional<Runnable>> asked = new CompletableFuture<>();
        onEventThread(() -> {
            try {
                asked.complete(flavour.ask(scene.lock, SHORT));
            } catch (InterruptedException | RuntimeException e) {
                asked.completeExceptionally(e);
            }
        });
        assertThat(asked)
                .failsWithin(Duration.ofSeconds(20))
                .withThrowableThat()
                .withCauseExactlyInstanceOf(IllegalStateException.class)
                .withMessageContaining("EventThread");
        scene.assertNothingLeft();
    }

    @Test
    @Tag("H34")
    void acquireAsyncAndCloseOnTheEventThread_work() throws InterruptedException {
        CompletableFuture<CompletableFuture<Lease>> asked = new CompletableFuture<>();
        onEventThread(() -> asked.complete(scene.lock.acquireAsync()));
        Lease lease = Soon.get(Soon.get(asked));
        CompletableFuture<Void> closed = new CompletableFuture<>();
        onEventThread(() -> {
            lease.close();
            closed.complete(null);
        });
        Soon.get(closed);
        scene.assertNothingLeft();
    }

    private void onEventThread(Runnable task) {
        ZooKeeper handle = contenders.client.zooKeeper().orElseThrow();
        handle.exists("/none", false, (rc, path, ctx, stat) -> task.run(), null);
    }
}
