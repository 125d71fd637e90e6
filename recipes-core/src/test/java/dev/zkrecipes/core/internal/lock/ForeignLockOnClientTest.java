// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockObserver;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.PrintedWhile;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.hold.Hold;
import dev.zkrecipes.core.spi.ForeignLock;
import dev.zkrecipes.core.spi.LockGroups;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockParts;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.Ports;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A foreign lock that works on a client: its leases are the client's as those of an engine lock are. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ForeignLockOnClientTest {
    private static final Duration MOST = Duration.ofMillis(400);

    /** What the observer and the foreign lock were told. */
    private final List<String> told = new CopyOnWriteArrayList<>();

    private final ManualScheduler scheduler = new ManualScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler);
    private final ZooKeeperClient client = Ports.clientBuilder(states -> operations, scheduler)
            .callbackExecutor(Runnable::run)
            .observer(this::observe)
            .build();
    private final Other other = new Other();
    private final InterProcessLock on =
            new LockInternals(client, "/locks/on", new MutexDriver(), LockOptions.defaults()).unowned();
    private final InterProcessLock lock =
            LockParts.foreign(other, LockOptions.defaults().withName("mine").withHoldAtMost(MOST), on);

    private LockObserver.Progress observe(LockObserver.Request request) {
        told.add("waiting " + request.path() + " " + request.name().orElse(""));
        return new LockObserver.Progress() {
            @Override
            public void onGranted(Duration waited) {
                told.add("granted");
            }

            @Override
            public void onAbandoned(Duration waited, LockObserver.Ending how) {
                told.add("abandoned " + how);
            }

            @Override
            public void onReleased(Duration held) {
                told.add("observed release after " + held);
            }

            @Override
            public void onLost(Duration held, String reason) {
                told.add("lost after " + held + ": " + reason);
            }
        };
    }

    /** A lock of another library. */
    private final class Other implements ForeignLock, ForeignLock.Hold {
        final List<CompletableFuture<Hold>> asked = new ArrayList<>();
        Optional<Hold> granted = Optional.of(this);
        LeaseState state = LeaseState.HELD;
        LockLostException why; // it stands on leases of this library
        boolean isBroken;
        boolean releaseDies;
        Optional<Duration> prolongedTo = Optional.empty();
        Runnable uponAcquire = () -> {};

        @Override
        public String toString() {
            return "Other";
        }

        @Override
        public String path() {
            return "/locks/other";
        }

        @Override
        public Hold acquire() {
            uponAcquire.run();
            return granted.orElseThrow(() -> new LockException("broken"));
        }

        @Override
        public Optional<Hold> tryAcquire(Duration atMost) {
            return granted;
        }

        @Override
        public CompletableFuture<Hold> acquireAsync() {
            asked.add(new CompletableFuture<>());
            return asked.get(asked.size() - 1);
        }

        @Override
        public LeaseState state() {
            if (isBroken) {
                throw new AssertionError("broken");
            }
            return state;
        }

        @Override
        public void prolong(Duration most) {
            prolongedTo = Optional.of(most);
        }

        @Override
        public Map<String, Long> fencingTokens() {
            if (why != null) {
                throw why;
            }
            return ForeignLock.Hold.super.fencingTokens();
        }

        @Override
        public void onLost(Runnable listener) {}

        @Override
        public void release() {
            told.add("release");
            if (releaseDies) {
                throw new AssertionError("in the middle");
            }
        }

        @Override
        public void releaseInBackground() {
            told.add("release in the background");
        }

        @Override
        public void releaseByOwner() {
            told.add("release by owner");
        }
    }

    @Test
    @Tag("H97")
    void errorInTheMiddleOfAClose_endsTheClient() throws InterruptedException {
        Lease lease = lock.acquire();
        other.isBroken = true;
        assertThatThrownBy(lease::close).isInstanceOf(AssertionError.class).hasMessage("broken");
        assertThat(PrintedWhile.running(() -> scheduler.advance(Duration.ofSeconds(1))))
                .contains("has ended itself")
                .contains("broken");
        assertThatThrownBy(lock::acquire).isInstanceOf(ClientClosedException.class);
    }

    @Test
    @Tag("H41")
    void errorBeforeTheHoldIsKnown_givesTheLockBack() {
        other.uponAcquire = () -> scheduler.uponTime = () -> {
            throw new AssertionError("no memory");
        };
        assertThatThrownBy(lock::acquire).isInstanceOf(AssertionError.class).hasMessage("no memory");
        scheduler.uponTime = () -> {};
        assertThat(told).contains("release in the background");
        assertThat(lock.isAcquiredInThisProcess()).isFalse();
    }

    /** Nobody knows then whether the lock is given back. */
    @Test
    @Tag("H119")
    void errorInTheMiddleOfARelease_endsTheClient() throws InterruptedException {
        Lease lease = lock.acquire();
        other.releaseDies = true;
        assertThatThrownBy(lease::close).isInstanceOf(AssertionError.class).hasMessage("in the middle");
        assertThat(PrintedWhile.running(() -> scheduler.advance(Duration.ofSeconds(1))))
                .contains("has ended itself")
                .contains("in the middle");
        assertThatThrownBy(lock::acquire).isInstanceOf(ClientClosedException.class);
    }

    /** That thread has recorded that the hold ends, and has not called the other library yet. */
    @Test
    @Tag("H286")
    void timeThatIsOverDuringAClose_leavesTheReleaseToTheClosingThread() throws InterruptedException {
        Lease lease = lock.acquire();
        ((Hold) lease).grant().first().endAsReleased();
        told.clear();
        scheduler.advance(MOST);
        assertThat(told).isEmpty();
        lease.close();
        assertThat(told).containsExactly("release");
        assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
    }

    @Test
    void holdIsLostAndGivenBack_whenItsTimeIsOver() throws InterruptedException {
        Lease lease = lock.acquire();
        lease.onLost(() -> told.add("listener"));
        scheduler.advance(MOST.minusMillis(1));
        assertThat(lease.isValid()).isTrue();
        told.clear();
        scheduler.advance(Duration.ofMillis(1));
        assertThat(told)
                .containsExactlyInAnyOrder(
                        "lost after PT0.4S: it was held for PT0.4S, the most that its LockOptions.withHoldAtMost allows",
                        "listener",
                        "release in the background");
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        assertThatThrownBy(lock::acquire)
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining("/locks/other")
                .hasMessageContaining("it was held for PT0.4S, the most that its LockOptions.withHoldAtMost allows;")
                .extracting("reason")
                .isEqualTo("it was held for PT0.4S, the most that its LockOptions.withHoldAtMost allows");
        lease.close();
        assertThat(told).filteredOn(each -> each.startsWith("release")).hasSize(1);
        lock.acquire().close();
    }

    /** A lock that only its own thread can release would stay held, whatever that thread does. */
    @Test
    @Tag("H279")
    void leaseThatNobodyCloses_isGivenBackByItsThread_whenItCountsAsClosed() throws InterruptedException {
        lock.acquire();
        Thread loss = new Thread(() -> scheduler.advance(MOST));
        loss.start();
        loss.join();
        assertThatThrownBy(lock::acquire).isInstanceOf(LockLostException.class);
        assertThat(told).contains("release in the background").doesNotContain("release by owner");
        scheduler.advance(Duration.ofMinutes(5));
        Lease next = lock.acquire();
        assertThat(told).containsSubsequence("release by owner", "granted");
        next.close();
        assertThat(told).containsOnlyOnce("release by owner");
    }

    /** As of a node, wherever it is noticed; but not again if the log says it of what the lock stands on. */
    @Test
    @Tag("H147")
    void everyLoss_isAWarning() throws Exception {
        String end = "Stop what it protects: others may have the lock now.";
        Lease overTime = lock.acquire();
        assertThat(PrintedWhile.warningsOfLocks(() -> scheduler.advance(MOST)))
                .singleElement()
                .asString()
                .contains("WARN")
                .contains("Lost the lock /locks/other: it was held for PT0.4S")
                .endsWith(end);
        overTime.close();

        Lease lostThere = lock.acquire();
        other.state = LeaseState.LOST;
        assertThat(PrintedWhile.warningsOfLocks(lostThere::close))
                .singleElement()
                .asString()
                .contains("Lost the lock /locks/other: what it stands on was lost.")
                .endsWith(end);

        other.state = LeaseState.HELD;
        Lease onOurs = lock.acquire();
        other.state = LeaseState.LOST;
        other.why = new LockLostException("by a lease");
        assertThat(PrintedWhile.warningsOfLocks(onOurs::close)).isEmpty();
    }

    @Test
    @Tag("H131")
    void leaseCanBeClosedLater_whereCallbacksRun() throws InterruptedException {
        Lease lease = LockParts.foreign(other, LockOptions.defaults(), on).acquire();
        CompletableFuture<Void> closed = lease.closeAfter(MOST);
        scheduler.advance(MOST.minusMillis(1));
        assertThat(told).doesNotContain("release in the background");
        scheduler.advance(Duration.ofMillis(1));
        assertThat(told).containsOnlyOnce("release in the background").doesNotContain("release");
        assertThat(closed).isCompleted();
        assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
    }

    @Test
    void timeOfAHold_canBeProlonged_unlessItIsLost() throws InterruptedException {
        Lease lease = lock.acquire();
        scheduler.advance(MOST.dividedBy(2));
        assertThat(lease.prolong(MOST)).isTrue();
        assertThat(other.prolongedTo).contains(MOST);
        scheduler.advance(MOST.dividedBy(2));
        assertThat(lease.isValid()).isTrue();
        other.state = LeaseState.LOST;
        assertThat(lease.prolong(MOST)).isFalse();
        other.state = LeaseState.HELD;
        scheduler.advance(MOST.dividedBy(2));
        assertThat(lease.prolong(MOST)).isFalse();
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
    }

    @Test
    void timeOfAHold_endsWithIt() throws InterruptedException {
        lock.acquire().close();
        scheduler.advance(MOST.dividedBy(2));
        Lease next = lock.acquire();
        scheduler.advance(MOST.dividedBy(2));
        assertThat(next.isValid()).isTrue();
        next.close();
        assertThat(told).noneMatch(each -> each.startsWith("lost"));
    }

    @Test
    void observersOfTheClient_areToldOfRequests_butNotOfReentry() throws InterruptedException {
        try (Lease outer = lock.acquire();
                Lease inner = lock.acquire()) {
            assertThat(inner.state()).isEqualTo(outer.state());
            scheduler.advance(Duration.ofMillis(1));
        }
        other.granted = Optional.empty();
        assertThat(lock.tryAcquire()).isEmpty();
        assertThat(lock.tryAcquire(Duration.ofSeconds(1))).isEmpty();
        assertThatThrownBy(lock::acquire).isInstanceOf(LockException.class);
        assertThat(told)
                .containsExactly(
                        "waiting /locks/other mine",
                        "granted",
                        "release",
                        "observed release after PT0.001S",
                        "waiting /locks/other mine",
                        "abandoned BUSY",
                        "waiting /locks/other mine",
                        "abandoned TIMED_OUT",
                        "waiting /locks/other mine",
                        "abandoned FAILED");
    }

    @Test
    void leaseOfAnAsynchronousRequest_belongsToNoThread() throws InterruptedException {
        CompletableFuture<Lease> wanted = lock.acquireAsync();
        assertThat(wanted).isNotDone();
        other.asked.get(0).complete(other);
        Lease lease = wanted.join();
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        assertThat(lock.isAcquiredInThisProcess()).isTrue();
        Thread closing = new Thread(lease::close);
        closing.start();
        closing.join();
        assertThat(lock.isAcquiredInThisProcess()).isFalse();
        assertThat(told).endsWith("release", "observed release after PT0S");
    }

    @Test
    void cancelledRequest_isWithdrawn() {
        CompletableFuture<Lease> wanted = lock.acquireAsync();
        wanted.cancel(false);
        assertThat(other.asked.get(0)).isCancelled();
        assertThat(told).containsExactly("waiting /locks/other mine", "abandoned CANCELLED");
    }

    @Test
    void holdThatComesAfterAnotherCompletionOfTheFuture_isGivenBack() {
        CompletableFuture<Lease> wanted = lock.acquireAsync();
        CompletableFuture<ForeignLock.Hold> stubborn = other.asked.get(0);
        var unused = stubborn.whenComplete((hold, failure) -> wanted.cancel(false)); // before the lease is delivered
        stubborn.complete(other);
        assertThat(told).contains("release in the background");
        assertThat(lock.isAcquiredInThisProcess()).isFalse();
    }

    @Test
    void failureOfARequest_isThatOfTheFuture() {
        CompletableFuture<Lease> wanted = lock.acquireAsync();
        LockException failure = new LockException("broken");
        other.asked.get(0).completeExceptionally(failure);
        assertThat(wanted).isCompletedExceptionally();
        assertThatThrownBy(wanted::join).hasCause(failure);
        assertThat(told).endsWith("abandoned FAILED");
    }

    @Test
    @Tag("H44")
    void threadThatDiedWithIt_isWarnedOf_whileSomebodyWaits() throws InterruptedException {
        InterProcessLock unlimited = LockParts.foreign(other, LockOptions.defaults(), on);
        Thread owner = new Thread(() -> assertThat(unlimited.tryAcquire()).isPresent(), "forgetful");
        owner.start();
        owner.join();
        CompletableFuture<Lease> wanted = lock.acquireAsync();
        assertThat(PrintedWhile.running(() -> scheduler.advance(Duration.ofSeconds(10))))
                .containsOnlyOnce("WARN")
                .contains("Thread forgetful ended while it held the lock /locks/other.");
        wanted.cancel(false);
    }

    @Test
    void threadThatHoldsIt_holdsItThroughEveryEqualLock_andNotThroughOthersOnThePath() throws InterruptedException {
        InterProcessLock equal = LockParts.foreign(other, LockOptions.defaults(), on);
        InterProcessLock ours =
                new LockInternals(client, other.path(), new MutexDriver(), LockOptions.defaults()).threadOwned();
        try (Lease lease = lock.acquire();
                Lease again = equal.acquire()) {
            assertThat(again.path()).isEqualTo(lease.path());
            assertThat(told).filteredOn("granted"::equals).hasSize(1);
            assertThatThrownBy(ours::acquire)
                    .isInstanceOf(LockRefusedException.class)
                    .hasMessageContaining("by the rule \"" + other + "\" (")
                    .hasMessageContaining("would wait for itself");
        }
        assertThat(told).filteredOn("release"::equals).hasSize(1);
    }

    @Test
    void closedClient_grantsNothing() {
        client.close();
        assertThatThrownBy(lock::acquire).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(lock::tryAcquire).isInstanceOf(ClientClosedException.class);
        assertThat(other.asked).isEmpty();
    }

    @Test
    void lockOfNoClient_isNoPlaceToWorkOn() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockParts.foreign(other, LockOptions.defaults(), LockGroups.foreign(other)));
    }
}
