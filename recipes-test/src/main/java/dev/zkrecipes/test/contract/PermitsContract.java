// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Permits never exceed the limit. A request gets all of its permits or none, and requests are served in order. */
abstract class PermitsContract extends TwoSemaphores {
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final int ROUNDS = 10;

    @Test
    void permitsHeldTogether_areNeverMoreThanTheLimit() throws InterruptedException {
        AtomicInteger held = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        for (int thread = 0; thread < LIMIT; thread++) {
            IntFunction<InterProcessLock> each = thread % 2 == 0 ? own : others;
            int permits = 1 + thread;
            workers.start("taker of " + permits, () -> {
                for (int round = 0; round < ROUNDS; round++) {
                    try (Lease lease = each.apply(permits).acquire()) {
                        most.accumulateAndGet(held.addAndGet(permits), Math::max);
                        lease.verify();
                        held.addAndGet(-permits);
                    }
                }
            });
        }
        workers.join(SOON.multipliedBy(4));
        assertThat(most).hasValueLessThanOrEqualTo(LIMIT);
        awaitNodes(0);
    }

    @Test
    void permitsWithinTheLimit_areHeldTogether() throws InterruptedException {
        Lease one = own.apply(1).acquire();
        Lease two = granted(others.apply(2).tryAcquire(), "2 of 3 permits that are free");
        Lease last = granted(own.apply(1).tryAcquire(), "the last permit");
        assertThat(others.apply(1).tryAcquire()).isEmpty();
        one.verify();
        two.verify();
        last.verify();
        one.close();
        two.close();
        last.close();
        awaitNodes(0);
    }

    @Test
    @Tag("H23")
    void requestsForAllPermits_neverTakeHalfEach() throws InterruptedException {
        for (IntFunction<InterProcessLock> each : List.of(own, others)) {
            workers.start("one who wants all", () -> {
                for (int round = 0; round < ROUNDS; round++) {
                    granted(each.apply(LIMIT).tryAcquire(SOON), "all permits").close();
                }
            });
        }
        workers.join(SOON.multipliedBy(4));
        awaitNodes(0);
    }

    @Test
    @Tag("H22")
    void waiter_isWokenByAnyReturnedLease() throws InterruptedException {
        for (int returned = 0; returned < 2; returned++) {
            List<Lease> held = List.of(own.apply(2).acquire(), own.apply(2).acquire());
            CompletableFuture<Lease> waiting = others.apply(2).acquireAsync();
            awaitNodes(3);
            held.get(returned).close();
            Soon.get(waiting).close();
            held.get(1 - returned).close();
        }
        awaitNodes(0);
    }

    @Test
    void smallRequest_doesNotPassAWaitingLargeOne() throws InterruptedException {
        Lease held = own.apply(2).acquire();
        CompletableFuture<Lease> large = others.apply(3).acquireAsync();
        awaitNodes(2);
        CompletableFuture<Lease> small = own.apply(1).acquireAsync();
        awaitNodes(3);
        assertThat(own.apply(1).tryAcquire()).isEmpty();
        assertThat(others.apply(1).participants())
                .extracting(Participant::holding)
                .containsExactly(true, false, false);
        assertThat(small).isNotDone();
        held.close();
        Lease first = Soon.get(large);
        Soon.get(small).close();
        first.close();
        awaitNodes(0);
    }

    private enum Leaving {
        CANCELLED,
        TIMED_OUT,
        INTERRUPTED
    }

    @ParameterizedTest
    @EnumSource
    @Tag("H36")
    void leavingLargeRequest_letsTheSmallOneBehindItIn(Leaving how) throws InterruptedException {
        Lease held = own.apply(2).acquire();
        Duration limit = Duration.ofSeconds(3);
        while (!isLeftBehind(how, limit)) { // a request that leaves before the small one arrives lets nobody in
            limit = limit.multipliedBy(3);
            assertThat(limit).isLessThan(Duration.ofMinutes(1));
        }
        held.close();
        awaitNodes(0);
    }

    /**
     * Makes a large request leave, after which the small one behind it is granted. Returns whether the small one
     * arrived before the large one left.
     */
    private boolean isLeftBehind(Leaving how, Duration limit) throws InterruptedException {
        InterProcessLock all = others.apply(LIMIT);
        CompletableFuture<CompletableFuture<Lease>> large = new CompletableFuture<>();
        Thread leaver = workers.start("large", () -> {
            switch (how) {
                case CANCELLED -> large.complete(all.acquireAsync());
                case TIMED_OUT -> assertTimesOut(all, limit);
                case INTERRUPTED -> assertThatThrownBy(all::acquire).isInstanceOf(InterruptedException.class);
            }
        });
        await().until(() -> server.children(path).size() == 2 || (how == Leaving.TIMED_OUT && !leaver.isAlive()));
        CompletableFuture<Lease> small = own.apply(2).acquireAsync();
        boolean isBehind = how != Leaving.TIMED_OUT || leaver.isAlive();
        if (how == Leaving.CANCELLED) {
            large.join().cancel(true);
        } else if (how == Leaving.INTERRUPTED) {
            leaver.interrupt();
        }
        Lease lease = small.orTimeout(60, TimeUnit.SECONDS).join();
        workers.join(SOON);
        lease.close();
        return isBehind;
    }

    /** Checks that an acquire times out. On a slow machine it may not have read the state of the lock by then. */
    private static void assertTimesOut(InterProcessLock lock, Duration limit) throws InterruptedException {
        try {
            assertThat(lock.tryAcquire(limit)).isEmpty();
        } catch (LockConnectionException e) {
            assertThat(e).hasMessageContaining("not known whether");
        }
    }

    @Test
    @Tag("H24")
    void moreThanTheLimit_isRefusedAtOnce_andWritesNothing() throws InterruptedException {
        own.apply(1).acquire().close();
        awaitNodes(0);
        long before = server.lastZxid();
        for (IntFunction<InterProcessLock> each : List.of(own, others)) {
            assertThatThrownBy(() -> each.apply(LIMIT + 1).tryAcquire(SOON))
                    .isInstanceOf(LockRefusedException.class)
                    .hasMessageContaining(path);
            assertThatThrownBy(() -> each.apply(LIMIT + 1).acquire()).isInstanceOf(LockRefusedException.class);
            assertThatThrownBy(() -> each.apply(LIMIT + 1).tryAcquire()).isInstanceOf(LockRefusedException.class);
            assertThatThrownBy(() -> each.apply(LIMIT + 1).acquireAsync().join())
                    .hasCauseInstanceOf(LockRefusedException.class);
        }
        assertThat(server.lastZxid()).isEqualTo(before);
        assertThatThrownBy(() -> own.apply(0).acquire()).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> own.apply(-1).acquire()).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void permitsOfALostSession_comeBack_andItsLeasesAreLost() throws InterruptedException {
        Lease lost = own.apply(3).acquire();
        CompletableFuture<Lease> waiting = others.apply(2).acquireAsync();
        awaitNodes(2);
        expireClient();
        Lease next = Soon.get(waiting);
        await().until(() -> lost.state() == LeaseState.LOST);
        own.apply(2).tryAcquire(SOON).orElseThrow().close(); // in the next session, beside the lost lease
        lost.close();
        next.verify();
        next.close();
        awaitNodes(0);
    }
}
