// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.ClientScene;
import dev.zkrecipes.core.internal.ModeDriver;
import dev.zkrecipes.core.spi.LockGroups;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Leases that end when they were held for long enough, and whatever races with that. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HoldAtMostTest extends ClientScene {
    private static final Duration MOST = Duration.ofMillis(400);
    private static final Duration TICK = Duration.ofMillis(1);

    private final List<String> told = new ArrayList<>();

    private InterProcessLock lock() {
        return lock("/locks/orders", LockOptions.defaults().withHoldAtMost(MOST));
    }

    private void assertLost(Lease lease) {
        assertLost(lease, "PT0.4S, the most that its LockOptions.withHoldAtMost");
    }

    private void assertLost(Lease lease, String after) {
        assertThat(lease.isValid()).isFalse();
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        assertThatThrownBy(lease::fencingToken)
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining("it was held for " + after + " allows");
    }

    @Test
    void leaseIsLost_whenItsTimeIsOver_andItsNodeDeleted() throws InterruptedException {
        InterProcessLock lock = lock();
        Lease lease = lock.acquire();
        lease.onLost(() -> told.add("lost"));
        scheduler.advance(MOST.minus(TICK));
        assertThat(lease.isValid()).isTrue();
        assertThat(operations.nodes()).hasSize(1);
        scheduler.advance(TICK);
        assertThat(told).containsExactly("lost"); // though nobody asked
        assertThat(operations.nodes()).isEmpty();
        assertLost(lease);
        assertThatThrownBy(lock::acquire).isInstanceOf(LockLostException.class);
        lease.close();
        lock.acquire().close();
    }

    @Test
    void isValid_isFalseFromTheLimitOn_alsoIfTheEngineIsLate() throws InterruptedException {
        Lease lease = lock().acquire();
        scheduler.skip(MOST); // no timer has run
        assertLost(lease);
        scheduler.run();
        assertThat(operations.nodes()).isEmpty();
    }

    @Test
    void reentry_doesNotProlongIt_norDoesAnotherLockObject() throws InterruptedException {
        Lease first = lock().acquire();
        scheduler.advance(MOST.dividedBy(2));
        Lease again = lock().acquire();
        Lease other = lock("/locks/orders").acquire();
        first.close();
        scheduler.advance(MOST.dividedBy(2));
        assertLost(again);
        assertLost(other);
    }

    @Test
    void releasedLease_isNotLostLater_andLeavesNoTimer() throws InterruptedException {
        Lease lease = lock().acquire();
        lease.onLost(() -> told.add("lost"));
        scheduler.advance(MOST.minus(TICK));
        lease.close();
        scheduler.run();
        Lease next = lock().acquire();
        scheduler.advance(MOST.minus(TICK));
        assertThat(next.isValid()).isTrue(); // a grant has a time of its own
        assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(told).isEmpty();
        next.close();
    }

    @Test
    void lateRelease_isReported_andReleaseInTimeIsNot() throws InterruptedException {
        InterProcessLock lock = lock();
        lock.acquire();
        scheduler.stop(MOST);
        assertThatThrownBy(lock::release).isInstanceOf(LockLostException.class).hasMessageContaining("held for PT0.4S");
        scheduler.run();
        assertThat(operations.nodes()).isEmpty();
        Lease inTime = lock.acquire();
        scheduler.stop(MOST.minus(TICK));
        lock.release();
        scheduler.stop(TICK);
        scheduler.run();
        assertThat(inTime.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(operations.nodes()).isEmpty();
    }

    @Test
    void severalLocksAsOne_areHeldForTheShortestLimit() throws InterruptedException {
        InterProcessLock plain = lock("/locks/a");
        InterProcessLock brief = lock("/locks/b", LockOptions.defaults().withHoldAtMost(MOST));
        Lease lease = LockGroups.together(
                        List.of(plain, brief), LockOptions.defaults().withHoldAtMost(MOST.multipliedBy(2)))
                .acquire();
        scheduler.advance(MOST.minus(TICK));
        assertThat(lease.isValid()).isTrue();
        scheduler.advance(TICK);
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        assertThat(operations.nodes()).isEmpty();
        lease.close();
        Lease second = LockGroups.together(
                        List.of(plain, lock("/locks/c")), LockOptions.defaults().withHoldAtMost(MOST))
                .acquire();
        scheduler.advance(MOST);
        assertThat(second.state()).isEqualTo(LeaseState.LOST);
    }

    @Test
    void downgrade_keepsWhatIsLeftOfTheTime() throws InterruptedException {
        LockGroups.Modes modes = LockGroups.modes(
                client,
                "/locks/modes",
                ModeDriver.EXCLUSIVE,
                ModeDriver.SHARED,
                LockOptions.defaults().withHoldAtMost(MOST));
        Lease writing = modes.exclusive().acquire();
        scheduler.advance(MOST.dividedBy(2));
        Lease reading = modes.shared().acquire();
        writing.close();
        scheduler.run();
        assertThat(reading.isValid()).isTrue();
        scheduler.advance(MOST.dividedBy(2));
        assertLost(reading);
        assertThat(operations.nodes()).isEmpty();
    }

    @Test
    void prolongedLease_isLostWhenItsNewTimeIsOver() throws InterruptedException {
        Lease lease = lock().acquire();
        lease.onLost(() -> told.add("lost"));
        scheduler.advance(MOST.minus(TICK));
        assertThat(lease.prolong(MOST.multipliedBy(3))).isTrue();
        scheduler.advance(MOST.multipliedBy(3).minus(TICK));
        assertThat(lease.isValid()).isTrue();
        assertThat(operations.nodes()).hasSize(1);
        assertThat(told).isEmpty();
        scheduler.advance(TICK);
        assertThat(told).containsExactly("lost"); // though nobody asked
        assertThat(operations.nodes()).isEmpty();
        assertThatThrownBy(lease::fencingToken)
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining("it was held for PT1.599S, the most that its Lease.prolong allows");
        assertThat(lease.prolong(MOST)).isFalse();
    }

    @Test
    void lessTime_endsItEarlier() throws InterruptedException {
        Lease lease = lock().acquire();
        lease.onLost(() -> told.add("lost"));
        assertThat(lease.prolong(TICK)).isTrue();
        scheduler.advance(TICK);
        assertThat(told).containsExactly("lost");
    }

    /** By the clock, whatever the engine has come to. */
    @Test
    void leaseWhoseTimeIsOver_isNotProlonged() throws InterruptedException {
        Lease late =
                lock("/locks/a", LockOptions.defaults().withHoldAtMost(MOST)).acquire();
        Lease inTime =
                lock("/locks/b", LockOptions.defaults().withHoldAtMost(MOST)).acquire();
        scheduler.skip(MOST.minus(TICK));
        assertThat(inTime.prolong(MOST)).isTrue();
        scheduler.skip(TICK);
        assertThat(late.prolong(MOST)).isFalse();
        assertLost(late);
        assertThat(inTime.isValid()).isTrue();
    }

    /** One thread looks at the clock, and another one prolongs the lease in time before the first has said so. */
    @Test
    @Tag("H128")
    void leaseThatIsProlongedInTime_standsForThoseWhoLook() throws InterruptedException {
        for (int looks = 1; looks <= 2; looks++) {
            Lease lease = lock("/locks/" + looks, LockOptions.defaults().withHoldAtMost(MOST))
                    .acquire();
            scheduler.skip(MOST.minus(TICK));
            List<Boolean> answers = new ArrayList<>();
            uponLook(looks, () -> {
                answers.add(lease.prolong(MOST));
                scheduler.skip(TICK);
            });
            assertThat(lease.state()).isEqualTo(LeaseState.HELD);
            assertThat(answers).containsExactly(true);
        }
    }

    /** The other way round: what one thread has seen lost, another one does not prolong. */
    @Test
    @Tag("H128")
    void leaseThatWasSeenLost_isNotProlonged_byAThreadThatLookedBefore() throws InterruptedException {
        for (int looks = 1; looks <= 3; looks++) {
            Lease lease = lock("/locks/" + looks, LockOptions.defaults().withHoldAtMost(MOST))
                    .acquire();
            scheduler.skip(MOST.minus(TICK));
            List<LeaseState> seen = new ArrayList<>();
            uponLook(looks, () -> {
                scheduler.skip(TICK);
                seen.add(lease.state());
            });
            assertThat(lease.prolong(MOST)).isFalse();
            assertThat(seen).containsExactly(LeaseState.LOST);
            assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        }
    }

    /** The timer would keep the lease for as long as it was to be prolonged. */
    @Test
    @Tag("H128")
    void leaseThatIsClosedWhileItIsProlonged_leavesNoTimer() throws InterruptedException {
        for (int uses = 1; uses <= 4; uses++) { // from then on the path is known
            lock().acquire().close();
            scheduler.run();
        }
        int timers = scheduler.timers();
        for (int looks = 1; looks <= 3; looks++) {
            Lease lease = lock().acquire();
            uponLook(looks, lease::close);
            lease.prolong(Duration.ofDays(1));
            scheduler.run();
            assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
            assertThat(scheduler.timers()).as("closed at look %d", looks).isEqualTo(timers);
        }
    }

    /** No timer has run, and nobody has asked for the state. */
    @Test
    @Tag("H126")
    void lateClose_isALoss_andTold() throws InterruptedException {
        Lease lease = lock().acquire();
        lease.onLost(() -> told.add("lost"));
        scheduler.skip(MOST);
        lease.close();
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        scheduler.run();
        assertThat(told).containsExactly("lost");
        assertThat(operations.nodes()).isEmpty();
    }

    /** In the middle of the n-th look at the clock from now on: the answer is from before the step. */
    private void uponLook(int n, Runnable step) {
        int[] looks = {0};
        scheduler.uponTime = () -> {
            if (++looks[0] == n) {
                scheduler.uponTime = () -> {};
                step.run();
            }
        };
    }

    @Test
    void reentrantHolds_areProlongedTogether_butNotByOneThatIsClosed() throws InterruptedException {
        Lease first = lock().acquire();
        Lease again = lock("/locks/orders").acquire();
        assertThat(again.prolong(MOST.multipliedBy(2))).isTrue();
        again.close();
        scheduler.advance(MOST);
        assertThat(first.isValid()).isTrue();
        assertThat(again.prolong(MOST.multipliedBy(2))).isFalse();
        scheduler.advance(MOST);
        assertLost(first, "PT0.8S, the most that its Lease.prolong");
    }

    @Test
    void prolonging_leavesNoTimer_andNothingWithoutALimit() throws InterruptedException {
        Lease lease = lock().acquire();
        int timers = scheduler.timers();
        for (int i = 0; i < 10; i++) {
            assertThat(lease.prolong(MOST)).isTrue();
            scheduler.run();
        }
        assertThat(scheduler.timers()).isEqualTo(timers);
        lease.close();
        scheduler.run();
        Lease unlimited = lock("/locks/orders").acquire();
        assertThat(unlimited.prolong(MOST)).isTrue();
        scheduler.advance(MOST);
        assertThat(unlimited.isValid()).isTrue();
        unlimited.close();
        assertThat(unlimited.prolong(MOST)).isFalse();
    }

    @Test
    void severalLocksAsOne_areProlongedTogether() throws InterruptedException {
        LockOptions brief = LockOptions.defaults().withHoldAtMost(MOST);
        Lease lease = LockGroups.together(List.of(lock("/locks/a", brief), lock("/locks/b", brief)), brief)
                .acquire();
        assertThat(lease.prolong(MOST.multipliedBy(2))).isTrue();
        scheduler.advance(MOST.multipliedBy(2).minus(TICK));
        assertThat(lease.isValid()).isTrue();
        scheduler.advance(TICK);
        assertThat(lease.prolong(MOST)).isFalse();
        assertThat(operations.nodes()).isEmpty();
    }

    @Test
    void timesOutOfBounds_areRejected() throws InterruptedException {
        Lease lease = lock().acquire();
        for (Duration bad :
                List.of(Duration.ZERO, Duration.ofNanos(10), Duration.ofMillis(-1), Duration.ofDays(40_000))) {
            assertThatThrownBy(() -> LockOptions.defaults().withHoldAtMost(bad))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("holdAtMost is " + bad + ", must be from 1 millisecond to 36500 days");
            assertThatThrownBy(() -> lease.prolong(bad)).isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> LockOptions.defaults().withHoldAtMost(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessageContaining("leave it out for no limit");
    }
}
