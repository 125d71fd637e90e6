// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.ClientScene;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.lock.EngineLock;
import dev.zkrecipes.core.spi.LockGroups;
import dev.zkrecipes.core.spi.LockInternals;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Leases that are closed later, by the client's timer, and holds that another thread than their own gives back. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CloseAfterTest extends ClientScene {
    private static final Duration DELAY = Duration.ofSeconds(2);
    private static final Duration TICK = Duration.ofMillis(1);

    private final InterProcessLock lock = lock("/locks/orders");

    private static void onAnotherThread(Runnable task) {
        Thread other = new Thread(task);
        other.start();
        try {
            other.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    @Tag("H131")
    void leaseIsClosed_whenTheDelayHasPassed_andNoThreadWaits() throws InterruptedException {
        Lease lease = lock.acquire();
        CompletableFuture<Void> closed = lease.closeAfter(DELAY);
        scheduler.advance(DELAY.minus(TICK));
        assertThat(lease.isValid()).isTrue();
        assertThat(closed).isNotDone();
        scheduler.advance(TICK);
        assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(lease.ended()).isCompletedWithValue(LeaseState.RELEASED);
        assertThat(closed).isCompleted();
        assertThat(operations.nodes()).isEmpty();
    }

    @Test
    void leaseThatIsClosedEarlier_leavesNoTimer() throws InterruptedException {
        Lease lease = lock.acquire();
        int timers = scheduler.timers();
        CompletableFuture<Void> later = lease.closeAfter(DELAY);
        assertThat(scheduler.timers()).isEqualTo(timers + 1);
        onAnotherThread(lease::closeAsync);
        scheduler.run();
        assertThat(scheduler.timers()).isEqualTo(timers);
        assertThat(later).isCompleted();
        assertThat(operations.nodes()).isEmpty();
        lock.acquire().close(); // the time of the first does not count for the next
    }

    @Test
    void delayOfZero_closesAtOnce_andAClosedLeaseStaysClosed() throws InterruptedException {
        Lease lease = lock.acquire();
        var unused = lease.closeAfter(Duration.ZERO);
        assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
        scheduler.run();
        int timers = scheduler.timers();
        assertThat(lease.closeAfter(DELAY)).isCompleted();
        assertThat(scheduler.timers()).isEqualTo(timers);
    }

    @Test
    void firstOfSeveralDelays_counts() throws InterruptedException {
        Lease lease = lock.acquire();
        var first = lease.closeAfter(DELAY);
        var second = lease.closeAfter(DELAY.dividedBy(2));
        scheduler.advance(DELAY.dividedBy(2));
        assertThat(first).isCompleted();
        assertThat(second).isCompleted();
        assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
    }

    @Test
    void badDelays_areRejected() throws InterruptedException {
        try (Lease lease = lock.acquire()) {
            for (Duration bad : List.of(TICK.negated(), Duration.ofDays(36_500).plus(TICK))) {
                assertThatThrownBy(() -> lease.closeAfter(bad))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessage("delay is " + bad + ", must be from 0 to 36500 days");
            }
            assertThatThrownBy(() -> lease.closeAfter(null))
                    .isInstanceOf(NullPointerException.class)
                    .hasMessageContaining("delay");
            var unused = lease.closeAfter(Duration.ofDays(36_500));
            scheduler.advance(Duration.ofHours(1));
            assertThat(lease.isValid()).isTrue();
        }
    }

    @Test
    void holdOfAnotherThread_cannotBeClosedLater() throws InterruptedException {
        Lease lease = lock.acquire();
        onAnotherThread(() -> {
            assertThatThrownBy(() -> lease.closeAfter(DELAY)).isInstanceOf(IllegalMonitorStateException.class);
            assertThatThrownBy(() -> LockInternals.letAnyThreadClose(lease))
                    .isInstanceOf(IllegalMonitorStateException.class);
            assertThatThrownBy(lease::closeAsync).isInstanceOf(IllegalMonitorStateException.class);
        });
        scheduler.advance(DELAY);
        assertThat(lease.isValid()).isTrue();
    }

    @Test
    void itsThreadMayReenter_andTheLastHoldGivesTheLockBack() throws InterruptedException {
        Lease first = lock.acquire();
        var unused = first.closeAfter(DELAY);
        assertThat(lock.isHeldByCurrentThread()).isTrue();
        Lease again = lock.acquire();
        scheduler.advance(DELAY);
        assertThat(first.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(again.isValid()).isTrue();
        assertThat(operations.nodes()).hasSize(1);
        again.close();
        assertThat(operations.nodes()).isEmpty();
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        try (Lease next = lock.acquire()) {
            assertThat(next.isValid()).isTrue();
        }
        assertThat(EngineClient.of(client).holds().ofThreads()).isEmpty();
    }

    @Test
    void lossEndsTheDelay_andClosesTheLease() throws InterruptedException {
        Lease lease = lock.acquire();
        CompletableFuture<Void> closed = lease.closeAfter(DELAY);
        int timers = scheduler.timers();
        ((HeldNode) ((Hold) lease).grant().first()).lose("played");
        scheduler.run();
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        assertThat(closed).isCompleted();
        assertThat(scheduler.timers()).isLessThan(timers);
        lock.acquire().close(); // it is closed, so the thread is not told once more
    }

    @Test
    void limitThatIsOverSooner_endsIt() throws InterruptedException {
        InterProcessLock brief = lock("/locks/brief", LockOptions.defaults().withHoldAtMost(DELAY.dividedBy(2)));
        Lease lease = brief.acquire();
        CompletableFuture<Void> closed = lease.closeAfter(DELAY);
        scheduler.advance(DELAY.dividedBy(2));
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        assertThat(closed).isCompleted();
        brief.acquire().close();
    }

    @Test
    void closeOfTheClient_givesItBackAtOnce() throws InterruptedException {
        Lease lease = lock.acquire();
        CompletableFuture<Void> closed = lease.closeAfter(DELAY);
        client.close();
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        assertThat(closed).isCompleted();
        assertThat(operations.isClosed()).isTrue();
    }

    @Test
    void severalLocksAsOne_areGivenBackTogether() throws InterruptedException {
        Lease lease = LockGroups.together(List.of(lock("/locks/a"), lock("/locks/b")), LockOptions.defaults())
                .acquire();
        CompletableFuture<Void> closed = lease.closeAfter(DELAY);
        assertThat(operations.nodes()).hasSize(2);
        scheduler.advance(DELAY);
        assertThat(closed).isCompleted();
        assertThat(operations.nodes()).isEmpty();
    }

    // ---- Holds that another thread gives back.

    @Test
    @Tag("H132")
    void holdThatBelongsToSomethingElse_isGivenBackByAnyThread() throws InterruptedException {
        Lease lease = lock.acquire();
        LockInternals.letAnyThreadClose(lease);
        onAnotherThread(lease::closeAsync);
        scheduler.run();
        assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(operations.nodes()).isEmpty();
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        assertThatThrownBy(lock::release).isInstanceOf(IllegalMonitorStateException.class);
        lock.acquire().close();
        scheduler.run();
        assertThat(EngineClient.of(client).holds().ofThreads()).isEmpty();
    }

    @Test
    @Tag("H132")
    void otherHoldsOfTheThread_stayItsOwn() throws InterruptedException {
        Lease first = lock.acquire();
        Lease again = lock.acquire();
        LockInternals.letAnyThreadClose(first);
        onAnotherThread(() -> {
            assertThatThrownBy(again::closeAsync).isInstanceOf(IllegalMonitorStateException.class);
            var unused = first.closeAsync();
        });
        scheduler.run();
        assertThat(first.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(again.isValid()).isTrue();
        assertThat(lock.holdCount()).isOne();
    }

    /** The other thread closes the hold just when its own thread has found it and opens another one beside it. */
    @Test
    @Tag("H132")
    void reentryBesideAHoldThatIsJustGivenBack_asksForTheLockAnew() throws InterruptedException {
        for (int looks = 1; looks <= 8; looks++) {
            Lease lease = lock.acquire();
            LockInternals.letAnyThreadClose(lease);
            closeUponLook(looks, lease);
            Lease again = lock.acquire();
            scheduler.uponTime = () -> {};
            scheduler.run();
            assertThat(again.state()).as("look %s", looks).isEqualTo(LeaseState.HELD);
            assertThat(operations.nodes()).as("look %s", looks).hasSize(1);
            again.close();
            onAnotherThread(lease::closeAsync);
            scheduler.run();
            assertThat(operations.nodes()).isEmpty();
        }
    }

    private void closeUponLook(int n, Lease lease) {
        int[] looks = {0};
        scheduler.uponTime = () -> {
            if (++looks[0] == n) {
                scheduler.uponTime = () -> {};
                onAnotherThread(lease::closeAsync);
            }
        };
    }

    /** What is found before another thread gives it back is not what a hold that is opened afterwards may stand on. */
    @Test
    @Tag("H132")
    void reentryOnWhatWasGivenBackMeanwhile_opensNothing() throws InterruptedException {
        Lease lease = lock.acquire();
        LockInternals.letAnyThreadClose(lease);
        LockData mine = EngineClient.of(client).holds().mine();
        EngineLock engine = EngineLock.behind(lock).orElseThrow();
        Grant found = mine.grantToReenter(engine.group(), null);
        assertThat(found.isSingle()).isTrue();
        onAnotherThread(lease::closeAsync);
        assertThat(mine.reenter(engine, found)).isNull();
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        assertThat(lock.holdCount()).isZero();
    }
}
