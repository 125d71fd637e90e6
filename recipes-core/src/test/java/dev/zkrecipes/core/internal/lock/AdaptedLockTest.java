// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.google.common.collect.Lists;
import com.google.common.util.concurrent.Uninterruptibles;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.internal.PrintedWhile;
import dev.zkrecipes.core.internal.hold.Hold;
import dev.zkrecipes.core.spi.ForeignLock;
import dev.zkrecipes.core.spi.LockGroups;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class AdaptedLockTest {

    /** A lock of another library that is free unless it is said to be busy. */
    private static final class Other implements ForeignLock, ForeignLock.Hold {
        final List<String> calls = Collections.synchronizedList(new ArrayList<>());
        boolean busy;
        int interruptions;
        LeaseState state = LeaseState.HELD;

        @Nullable
        RuntimeException refusesListeners;

        @Nullable
        RuntimeException refusesRelease;

        @Nullable
        RuntimeException refusesState;

        Runnable whileReleasing = () -> {};
        Runnable whenStateIsAsked = () -> {};

        @Nullable
        Consumer<RevocationRequest> asked;

        int listened;

        private final List<Runnable> listeners = new ArrayList<>();

        @Override
        public String path() {
            return "other:1";
        }

        @Override
        public Hold acquire() {
            calls.add("acquire");
            return this;
        }

        @Override
        public Optional<Hold> tryAcquire(Duration atMost) throws InterruptedException {
            calls.add("try " + atMost);
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            if (interruptions-- > 0) { // as Curator tells it
                Thread.currentThread().interrupt();
                throw new InterruptedException();
            }
            return busy ? Optional.empty() : Optional.of(this);
        }

        @Override
        public LeaseState state() {
            if (refusesState != null) {
                throw refusesState;
            }
            whenStateIsAsked.run();
            return state;
        }

        @Override
        public void onLost(Runnable listener) {
            if (refusesListeners != null) {
                throw refusesListeners;
            }
            if (state == LeaseState.LOST) {
                listener.run();
            } else {
                listeners.add(listener);
            }
        }

        @Override
        public void onRevocationRequested(Consumer<RevocationRequest> listener) {
            asked = listener;
            listened++;
        }

        @Override
        public void release() {
            calls.add("release");
            whileReleasing.run();
            if (refusesRelease != null) {
                throw refusesRelease;
            }
        }

        @Override
        public void releaseByOwner() {
            calls.add("release by owner");
        }

        void lose() {
            state = LeaseState.LOST;
            List.copyOf(listeners).forEach(Runnable::run);
            listeners.clear();
        }
    }

    private static final Duration LIMIT = Duration.ofSeconds(120);

    private final Other other = new Other();
    private final InterProcessLock lock = LockGroups.foreign(other);

    @Test
    void secondHoldOfTheThread_asksNobody_andTheLastOneGivesBack() throws InterruptedException {
        Lease first = lock.acquire();
        Lease second = lock.tryAcquire(Duration.ofSeconds(1)).orElseThrow();
        Lease third = lock.tryAcquire().orElseThrow();
        assertThat(lock.holdCount()).isEqualTo(3);
        first.close();
        first.close();
        third.close();
        assertThat(other.calls).containsExactly("acquire");
        lock.release();
        assertThat(second.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(other.calls).containsExactly("acquire", "release");
        assertThat(lock.isAcquiredInThisProcess()).isFalse();
        assertThatThrownBy(lock::release).isInstanceOf(IllegalMonitorStateException.class);
    }

    /** To give a lock of another library back may take a while. */
    @Test
    void requestThatComesWhileALeaseIsClosed_isNotTold() throws InterruptedException {
        Lease lease = lock.acquire();
        List<RevocationRequest> told = new ArrayList<>();
        lease.onRevocationRequested(told::add);
        Consumer<RevocationRequest> asked = Objects.requireNonNull(other.asked);
        RevocationRequest request = new RevocationRequest("7", "somebody", Optional.empty());
        asked.accept(request);
        assertThat(told).containsExactly(request);
        other.whileReleasing = () -> asked.accept(request);
        lease.close();
        asked.accept(request);
        assertThat(told).hasSize(1);
    }

    @Test
    @Tag("H42")
    void listenersOfClosedHolds_areNotKept() throws InterruptedException {
        Lease outer = lock.acquire();
        List<WeakReference<Object>> marks = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            Object mark = new Object();
            marks.add(new WeakReference<>(mark));
            try (Lease inner = lock.acquire()) {
                inner.onRevocationRequested(request -> other.calls.add(mark.toString()));
            }
        }
        assertThat(other.listened).isOne();
        await().atMost(LIMIT).until(() -> {
            System.gc();
            return marks.stream().filter(mark -> !mark.refersTo(null)).count() <= 1; // the last may be on the stack
        });
        outer.close();
    }

    @Test
    @Tag("H42")
    void listenerThatComesLater_isToldOfEarlierRequests_once() throws InterruptedException {
        Lease outer = lock.acquire();
        List<String> told = new CopyOnWriteArrayList<>();
        outer.onRevocationRequested(request -> told.add("outer " + request.id()));
        Consumer<RevocationRequest> asked = Objects.requireNonNull(other.asked);
        asked.accept(new RevocationRequest("1", "somebody", Optional.empty()));
        Lease inner = lock.acquire();
        inner.onRevocationRequested(request -> {
            told.add("inner " + request.id());
            throw new IllegalStateException("thrown by the test");
        });
        await().atMost(LIMIT).until(() -> told.size() == 2);
        asked.accept(new RevocationRequest("2", "somebody", Optional.empty()));
        await().atMost(LIMIT)
                .untilAsserted(
                        () -> assertThat(told).containsExactlyInAnyOrder("outer 1", "inner 1", "outer 2", "inner 2"));
        inner.close();
        asked.accept(new RevocationRequest("3", "somebody", Optional.empty()));
        assertThat(told).endsWith("outer 3").hasSize(5);
        outer.close();
    }

    @Test
    @Tag("H44")
    void threadThatDiedWithIt_isWarnedOf_whenSomebodyAsks() throws InterruptedException {
        Thread owner = new Thread(() -> assertThat(lock.tryAcquire()).isPresent(), "forgetful");
        owner.start();
        owner.join();
        other.busy = true;
        assertThat(PrintedWhile.running(() -> {
                    assertThat(lock.tryAcquire()).isEmpty();
                    assertThat(lock.tryAcquire()).isEmpty();
                }))
                .containsOnlyOnce("WARN")
                .contains("Thread forgetful ended while it held the lock other:1.");
    }

    @Test
    void timeouts_arePassedOn_andNegativeOnesAreRejected() throws InterruptedException {
        other.busy = true;
        assertThat(lock.tryAcquire(Duration.ofSeconds(7))).isEmpty();
        assertThat(lock.tryAcquire(Duration.ZERO)).isEmpty();
        assertThat(other.calls).containsExactly("try PT7S", "try PT0S");
        assertThatIllegalArgumentException().isThrownBy(() -> lock.tryAcquire(Duration.ofNanos(-1)));
    }

    @Test
    void interruption_endsWaitsOnly() {
        Thread.currentThread().interrupt();
        assertThat(lock.tryAcquire()).isPresent();
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
        assertThatThrownBy(lock::acquire).isInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void loss_isToldOnceToEachLease_andEndsWithTheLastOne() throws InterruptedException {
        Lease first = lock.acquire();
        Lease second = lock.acquire();
        List<String> told = new CopyOnWriteArrayList<>();
        first.onLost(() -> told.add("first"));
        second.close();
        second.onLost(() -> told.add("second"));
        other.lose();
        other.lose();
        assertThat(first.ended()).succeedsWithin(LIMIT).isEqualTo(LeaseState.LOST);
        await().atMost(LIMIT).untilAsserted(() -> assertThat(told).containsExactly("first"));
        assertThatThrownBy(lock::acquire).isInstanceOf(LockLostException.class).hasMessageContaining("other:1");
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        assertThat(lock.holdCount()).isEqualTo(1);
        first.close();
        assertThat(other.calls).containsExactly("acquire", "release");
        other.state = LeaseState.HELD;
        lock.acquire().close();
    }

    @Test
    void lockRefusingALossListener_isGivenBack() {
        other.refusesListeners = new IllegalStateException("deaf");
        assertThatThrownBy(lock::acquire).isSameAs(other.refusesListeners);
        assertThat(other.calls).containsExactly("acquire", "release");
        assertThat(lock.holdCount()).isZero();
    }

    @Test
    void leaseOfADeadThread_mayBeClosedByAnyThread() throws InterruptedException {
        List<Lease> leases = new ArrayList<>();
        Thread owner = new Thread(() -> lock.tryAcquire().ifPresent(leases::add));
        owner.start();
        owner.join();
        assertThat(lock.isAcquiredInThisProcess()).isTrue();
        leases.get(0).close();
        assertThat(other.calls).endsWith("release");
        assertThat(lock.isAcquiredInThisProcess()).isFalse();
    }

    /** Starts a thread that acquires the lock twice and then waits. */
    private Thread holderUntil(CountDownLatch end) throws InterruptedException {
        CountDownLatch held = new CountDownLatch(1);
        Thread owner = new Thread(() -> {
            assertThat(lock.tryAcquire()).isPresent();
            assertThat(lock.tryAcquire()).isPresent();
            held.countDown();
            Uninterruptibles.awaitUninterruptibly(end);
        });
        owner.start();
        held.await();
        return owner;
    }

    private static long kept(List<WeakReference<Thread>> threads) {
        System.gc();
        return threads.stream().filter(thread -> !thread.refersTo(null)).count();
    }

    @Test
    void threadThatIsDeadAtTheLoss_isForgotten() throws InterruptedException {
        CountDownLatch end = new CountDownLatch(1);
        Thread owner = holderUntil(end);
        List<WeakReference<Thread>> threads = List.of(new WeakReference<>(owner));
        end.countDown();
        owner.join();
        owner = null;
        assertThat(kept(threads)).as("it may hold").isOne();
        other.lose();
        await().atMost(LIMIT).until(() -> kept(threads) == 0);
    }

    @Test
    void threadsThatDieAfterTheLoss_areForgotten_butForAFew() throws InterruptedException {
        List<WeakReference<Thread>> threads = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            other.state = LeaseState.HELD;
            CountDownLatch end = new CountDownLatch(1);
            Thread owner = holderUntil(end);
            threads.add(new WeakReference<>(owner));
            other.lose();
            end.countDown();
            owner.join();
        }
        await().atMost(LIMIT).until(() -> kept(threads) <= 20);
    }

    @Test
    void deadThreadsWhoseLeasesStand_areNotForgotten() throws InterruptedException {
        List<Lease> leases = new CopyOnWriteArrayList<>();
        for (int i = 0; i < 100; i++) {
            Thread owner = new Thread(() -> leases.add(lock.tryAcquire().orElseThrow()));
            owner.start();
            owner.join();
        }
        for (Lease lease : Lists.reverse(leases)) {
            assertThat(lock.isAcquiredInThisProcess()).isTrue();
            lease.close();
        }
        assertThat(lock.isAcquiredInThisProcess()).isFalse();
    }

    @Test
    void leaseOfAForgottenThread_canBeClosed() throws InterruptedException {
        List<Lease> leases = new ArrayList<>();
        Thread owner = new Thread(() -> leases.add(lock.tryAcquire().orElseThrow()));
        owner.start();
        owner.join();
        other.lose();
        leases.get(0).close();
        assertThat(leases.get(0).state()).isEqualTo(LeaseState.LOST);
        assertThat(other.calls).endsWith("release");
    }

    @Test
    void releaseThatFails_isThrownByClose_andByRelease() throws InterruptedException {
        other.refusesRelease = new IllegalStateException("stuck");
        Lease lease = lock.acquire();
        assertThatThrownBy(lease::close).isSameAs(other.refusesRelease);
        lease.close();
        lock.acquire();
        assertThatThrownBy(lock::release).isSameAs(other.refusesRelease);
        assertThat(lock.isAcquiredInThisProcess()).isFalse();
        assertThat(other.calls).containsExactly("acquire", "release", "acquire", "release");
    }

    @Test
    void releaseThatFails_isTheAnswerOfCloseAsync() throws InterruptedException {
        other.refusesRelease = new IllegalStateException("stuck");
        Lease lease = lock.acquire();
        assertThat(lease.closeAsync()).isCompletedExceptionally();
        assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(lock.isAcquiredInThisProcess()).isFalse();
    }

    /** A lost lease is closed without a word, so the log has to tell. */
    @Test
    void releaseOfALostHoldThatFails_isLogged() throws InterruptedException {
        other.refusesRelease = new IllegalStateException("stuck");
        Lease lease = lock.acquire();
        other.lose();
        assertThat(PrintedWhile.running(lease::close))
                .containsOnlyOnce("The lock other:1 was lost, and giving it back failed")
                .contains("stuck");
    }

    @Test
    void lockThatDoesNotTellItsState_canBeGivenBack() throws InterruptedException {
        Lease lease = lock.acquire();
        other.refusesState = new IllegalStateException("mute");
        assertThat(lease.closeAsync()).isCompleted();
        assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(other.calls).containsExactly("acquire", "release");
    }

    @Test
    void lockThatDoesNotTellItsState_isGivenBack() {
        other.refusesState = new IllegalStateException("mute");
        assertThatThrownBy(lock::acquire).isSameAs(other.refusesState);
        assertThat(other.calls).containsExactly("acquire", "release");
        assertThat(lock.holdCount()).isZero();
    }

    @Test
    void reentryThatDoesNotLearnTheState_leavesTheOtherHoldAsItWas() throws InterruptedException {
        Lease lease = lock.acquire();
        other.refusesState = new IllegalStateException("mute");
        assertThatThrownBy(lock::acquire).isSameAs(other.refusesState);
        other.refusesState = null;
        assertThat(lock.holdCount()).isEqualTo(1);
        lease.close();
        assertThat(other.calls).containsExactly("acquire", "release");
    }

    @Test
    @Tag("H52")
    void interruptionThatLeavesTheFlagSet_doesNotKeepATryFromEnding() {
        other.interruptions = 1;
        assertThat(lock.tryAcquire()).isPresent();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(other.calls).containsExactly("try PT0S", "try PT0S");
    }

    @Test
    @Tag("H91")
    void lossListener_blocksNeitherTheOtherLibrarysThread_norOtherListeners() throws Exception {
        Lease lease = lock.acquire();
        CountDownLatch blocked = new CountDownLatch(1);
        Thread others = Thread.currentThread(); // the other library's
        Runnable block = () -> {
            if (Thread.currentThread() != others) {
                Uninterruptibles.awaitUninterruptibly(blocked);
            }
        };
        List<Thread> told = new CopyOnWriteArrayList<>();
        try {
            lease.onLost(block);
            lease.onLost(() -> {
                throw new IllegalStateException("fails");
            });
            lease.onLost(() -> told.add(Thread.currentThread()));
            var dependent = lease.ended().thenRun(block);
            other.lose();
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(told).hasSize(1).doesNotContain(others));
            assertThat(dependent).isNotDone();
        } finally {
            blocked.countDown();
        }
        lease.close();
    }

    @Test
    @Tag("H95")
    void endOfALease_isSharedByAllThatAsk() throws InterruptedException {
        Lease lease = lock.acquire();
        assertThat((Object) lease.ended()).isSameAs(lease.ended());
        assertThat(lease.closeAsync()).isCompleted();
        assertThat(lease.ended()).succeedsWithin(LIMIT).isEqualTo(LeaseState.RELEASED);
    }

    @Test
    @Tag("H112")
    void lostLeaseThatNobodyCloses_isToldOf_andReleaseGivesItBack() throws InterruptedException {
        lock.acquire();
        other.lose();
        assertThatThrownBy(lock::acquire).isInstanceOf(LockLostException.class);
        assertThatThrownBy(lock::acquire).isInstanceOf(LockLostException.class);
        assertThatThrownBy(lock::release).isInstanceOf(LockLostException.class);
        assertThat(other.calls).containsExactly("acquire", "release");
        assertThatThrownBy(lock::release).isInstanceOf(IllegalMonitorStateException.class);
        other.state = LeaseState.HELD;
        lock.acquire().close();
    }

    @Test
    @Tag("H112")
    void lostLease_isGivenBackByItsClose() throws InterruptedException {
        Lease lease = lock.acquire();
        other.lose();
        assertThatThrownBy(lock::acquire).isInstanceOf(LockLostException.class);
        lease.close();
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        assertThat(other.calls).containsExactly("acquire", "release");
    }

    /** The other thread has decided to close the lease and has not called the other library yet. */
    @Test
    @Tag("H150")
    void ownerThatClosesWhileAnotherThreadIsAtIt_givesBackByItself() throws Exception {
        Lease lease = lock.acquire();
        ((Hold) lease).letAnyThreadClose();
        Thread owner = Thread.currentThread();
        CountDownLatch decided = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        other.whenStateIsAsked = () -> {
            if (Thread.currentThread() != owner) {
                decided.countDown();
                Uninterruptibles.awaitUninterruptibly(goesOn);
            }
        };
        List<Thread> releasing = new CopyOnWriteArrayList<>();
        other.whileReleasing = () -> releasing.add(Thread.currentThread());
        Thread loss = new Thread(lease::closeAsync);
        loss.start();
        decided.await();
        lease.close();
        assertThat(releasing).containsExactly(owner);
        goesOn.countDown();
        loss.join();
        assertThat(other.calls).containsExactly("acquire", "release");
    }

    /** A lock that only its own thread can release would refuse, and the owner's close would report that. */
    @Test
    @Tag("H326")
    void threadThatMayNotClose_isRefused_alsoWhileTheOwnerCloses() throws Exception {
        Lease lease = lock.acquire();
        Thread owner = Thread.currentThread();
        List<Throwable> refused = new CopyOnWriteArrayList<>();
        Thread another = new Thread(() -> refused.add(catchThrowable(lease::close)));
        other.whenStateIsAsked = () -> {
            if (Thread.currentThread() == owner && another.getState() == Thread.State.NEW) {
                another.start();
                Uninterruptibles.joinUninterruptibly(another);
            }
        };
        List<Thread> releasing = new CopyOnWriteArrayList<>();
        other.whileReleasing = () -> releasing.add(Thread.currentThread());
        lease.close();
        assertThat(releasing).containsExactly(owner);
        assertThat(refused).singleElement().isInstanceOf(IllegalMonitorStateException.class);
        assertThat(catchThrowable(lease::close)).isNull();
    }

    /** The other thread could not release what only the owner can. */
    @Test
    @Tag("H240")
    void ownerThatClosesAsynchronously_releasesWhatAnotherThreadCouldNot() throws Exception {
        Lease lease = lock.acquire();
        ((Hold) lease).letAnyThreadClose();
        Thread loss = new Thread(lease::closeAsync);
        loss.start();
        loss.join();
        assertThat(other.calls).containsExactly("acquire", "release");
        var unused = lease.closeAsync();
        assertThat(other.calls).containsExactly("acquire", "release", "release by owner");
    }

    /** A lock that counts would release the thread's next hold. */
    @Test
    @Tag("H244")
    void ownerThatClosesItsLeasesAgain_releasesOnce() throws Exception {
        Lease outer = lock.acquire();
        Lease inner = lock.acquire();
        ((Hold) outer).letAnyThreadClose();
        ((Hold) inner).letAnyThreadClose();
        Thread loss = new Thread(() -> {
            inner.closeAsync();
            outer.closeAsync();
        });
        loss.start();
        loss.join();
        assertThat(other.calls).containsExactly("acquire", "release");
        inner.close();
        outer.close();
        var unused = outer.closeAsync();
        assertThat(other.calls).containsExactly("acquire", "release", "release by owner");
    }
}
