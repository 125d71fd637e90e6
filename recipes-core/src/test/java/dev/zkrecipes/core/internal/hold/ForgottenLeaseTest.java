// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.MAP;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.internal.ClientScene;
import dev.zkrecipes.core.internal.ModeDriver;
import dev.zkrecipes.core.internal.PrintedWhile;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.spi.LockGroups;
import dev.zkrecipes.core.spi.LockInternals;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Lost leases that nobody closes. */
@Timeout(600)
@Tag("H112")
class ForgottenLeaseTest extends ClientScene {
    private static final Duration MOST = Duration.ofMillis(400);

    private final LockInternals internals =
            internals("/locks/orders", LockOptions.defaults().withHoldAtMost(MOST));
    private final InterProcessLock lock = internals.threadOwned();

    ForgottenLeaseTest() {
        super(builder -> builder.ownerLabel("label"));
    }

    /** The lease is not closed, as by a pool's thread that went on to other work. */
    private void lose(Callable<Lease> acquire) throws Exception {
        var unused = acquire.call();
        scheduler.advance(MOST);
    }

    private void letMinutesPass() {
        scheduler.advance(UnclosedLosses.FORGOTTEN);
    }

    private static void assertTellsOfTheLoss(InterProcessLock lock) {
        assertThatThrownBy(lock::tryAcquire)
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining("close every lease of it, then acquire afresh");
    }

    private String printedByAcquire() {
        return PrintedWhile.running(() -> assertThat(lock.tryAcquire()).isPresent());
    }

    @Test
    void lostLeaseThatNobodyCloses_countsAsClosedMinutesLater() throws Exception {
        lose(lock::acquire);
        assertTellsOfTheLoss(lock);
        scheduler.advance(UnclosedLosses.FORGOTTEN.minusMillis(1));
        assertTellsOfTheLoss(lock);
        scheduler.advance(Duration.ofMillis(1));
        assertThat(printedByAcquire())
                .containsOnlyOnce("WARN")
                .contains("The lock /locks/orders of label was lost while thread ", "not closed for 5 minutes");
        assertThat(lock.holdCount()).isEqualTo(1);
        assertThat(printedByAcquire()).isEmpty();
    }

    /** It may have been in the middle of what the lock protects all the time. */
    @Test
    @Tag("H02")
    void threadThatWasNotToldOfTheLoss_isToldFirst() throws Exception {
        lose(lock::acquire);
        letMinutesPass();
        assertTellsOfTheLoss(lock);
        lock.acquire().close();
    }

    /** By its own clock, while the engine is late. The time until the lease counts as closed runs from then. */
    @Test
    void threadThatIsToldOfTheLossBeforeTheEngineKnows_isToldForMinutesOnly() throws Exception {
        lock.acquire();
        scheduler.skip(MOST);
        assertTellsOfTheLoss(lock);
        scheduler.skip(UnclosedLosses.FORGOTTEN.minusMillis(1));
        assertTellsOfTheLoss(lock);
        scheduler.skip(Duration.ofMillis(1));
        assertThat(printedByAcquire()).contains("its lease was not closed for 5 minutes");
    }

    /** As in {@code acquire(); try { inner(); } finally { release(); }}, where nobody has the lease. */
    @Test
    @Tag("H02")
    void threadInTheSectionOfALostLock_isToldBeforeItGetsTheLockAgain() throws Exception {
        lose(lock::acquire);
        assertTellsOfTheLoss(lock);
        assertThatThrownBy(lock::release).isInstanceOf(LockLostException.class);
        lock.acquire().close();
        assertThat(lock.holdCount()).isZero();
    }

    @Test
    void lostLease_thatIsClosed_isNoMoreSpokenOf() throws Exception {
        Lease lease = lock.acquire();
        scheduler.advance(MOST);
        assertTellsOfTheLoss(lock);
        lease.close();
        letMinutesPass();
        assertThat(printedByAcquire()).isEmpty();
    }

    @Test
    void releaseWithoutTheLease_tellsOfTheLoss_onceForEach() throws Exception {
        lose(() -> {
            lock.acquire();
            return lock.acquire();
        });
        assertThatThrownBy(lock::release).isInstanceOf(LockLostException.class);
        assertThatThrownBy(lock::release).isInstanceOf(LockLostException.class);
        assertThatThrownBy(lock::release).isInstanceOf(IllegalMonitorStateException.class);
        lock.acquire().close();
    }

    @Test
    void recordOfAThread_goesWithItsLastLease_whenThatCountsAsClosed() throws Exception {
        lose(lock::acquire);
        assertTellsOfTheLoss(lock);
        letMinutesPass();
        operations.add("0123456789abcdef0123456789abcdef-lock-0000000000");
        assertThat(lock.tryAcquire()).isEmpty();
        assertThat(EngineClient.of(client).holds().ofThreads()).isEmpty();
    }

    @Test
    void lockHeldByItsObject_isFreeAgain() throws Exception {
        InterProcessLock once = internals.instanceOwned();
        lose(once::acquire);
        assertTellsOfTheLoss(once);
        letMinutesPass();
        once.acquire().close();
    }

    private InterProcessLock both(LockOptions options) {
        return LockGroups.together(List.of(lock("/locks/a"), lock("/locks/b")), options);
    }

    @Test
    void restOfSeveralLocks_isGivenBack() throws Exception {
        InterProcessLock both = both(LockOptions.defaults());
        both.acquire();
        operations.remove(operations.nodes().get(0));
        scheduler.advance(operations.sessionTimeout().dividedBy(2));
        assertTellsOfTheLoss(both);
        letMinutesPass();
        assertThat(PrintedWhile.running(() -> both.tryAcquire().orElseThrow().close()))
                .containsOnlyOnce("WARN");
        assertThat(operations.nodes()).isEmpty();
    }

    @Test
    void memberThatStands_canBeTakenOnceMore_andOneThatIsLostCannot() throws Exception {
        InterProcessLock first = lock("/locks/a");
        InterProcessLock second = lock("/locks/b");
        Lease both = LockGroups.together(List.of(first, second), LockOptions.defaults())
                .acquire();
        ((Hold) both).grant().nodes().toList().get(1).lose("the test says so");
        assertThat(both.state()).isEqualTo(LeaseState.LOST);
        first.acquire().close();
        assertTellsOfTheLoss(second);
        both.close();
        second.acquire().close();
    }

    /** A downgrade from what stands, although another lock of the same lease is lost. */
    @Test
    void otherModeOfAMemberThatStands_canBeTaken() throws Exception {
        LockGroups.Modes modes =
                LockGroups.modes(client, "/locks/a", ModeDriver.EXCLUSIVE, ModeDriver.SHARED, LockOptions.defaults());
        InterProcessLock second = lock("/locks/b");
        Lease both = LockGroups.together(List.of(modes.exclusive(), second), LockOptions.defaults())
                .acquire();
        ((Hold) both).grant().nodes().toList().get(1).lose("the test says so");
        assertThat(both.state()).isEqualTo(LeaseState.LOST);
        Lease reading = modes.shared().acquire();
        both.close();
        assertThat(reading.isValid()).isTrue();
        reading.close();
    }

    /** The thread's own node is still in the queue of the first, so the request would wait for itself. */
    @Test
    void memberThatStands_refusesARequestForItTogetherWithOthers() throws Exception {
        InterProcessLock first = lock("/locks/a");
        InterProcessLock second = lock("/locks/b");
        InterProcessLock third = lock("/locks/c");
        Lease both = LockGroups.together(List.of(first, second), LockOptions.defaults())
                .acquire();
        ((Hold) both).grant().nodes().toList().get(1).lose("the test says so");
        InterProcessLock others = LockGroups.together(List.of(first, third), LockOptions.defaults());
        assertThatThrownBy(others::tryAcquire).isInstanceOf(LockRefusedException.class);
        both.close();
        others.acquire().close();
    }

    /** What counts as closed gives back all of its nodes, so none of them may be taken once more. */
    @Test
    void leaseThatCountsAsClosed_isNotReenteredInPart() throws Exception {
        InterProcessLock both = LockGroups.together(
                List.of(
                        granting("/locks/one").threadOwned(),
                        granting("/locks/other").threadOwned()),
                LockOptions.defaults());
        Hold others = (Hold) granting("/locks/other").instanceOwned().acquire();
        Hold lost = (Hold) both.acquire();
        LockData data = LockData.ofThread(Thread.currentThread(), scheduler::nanoTime, useless -> {});
        Hold.open(others.lock(), others.grant(), data, null);
        Hold.open(lost.lock(), lost.grant(), data, null);
        lost.grant().nodes().toList().get(1).lose("played");
        scheduler.run();
        assertThatThrownBy(data::requireNoneLost).isInstanceOf(LockLostException.class);
        letMinutesPass();
        assertThatThrownBy(() -> data.grantToReenter(lost.group(), null)).isInstanceOf(LockRefusedException.class);
    }

    private LockInternals granting(String path) {
        return internals(path, new TestDriver("lock-", Integer.MAX_VALUE));
    }

    /** No acquire tells of the loss, as the lock belongs to nobody. */
    @Test
    void lostLeaseOfALockThatBelongsToNobody_isForgotten() throws Exception {
        InterProcessLock permit = internals.unowned();
        lose(permit::acquire);
        permit.acquire().close();
        assertThatThrownBy(permit::release).as("before").isInstanceOf(LockLostException.class);
        lose(permit::acquire);
        letMinutesPass();
        assertThat(PrintedWhile.running(() -> permit.tryAcquire().orElseThrow().close()))
                .containsOnlyOnce("WARN");
        assertThatThrownBy(permit::release).as("afterwards").isInstanceOf(IllegalMonitorStateException.class);
    }

    @Test
    void severalLocksThatAreAllLost_areToldOfOnce() throws Exception {
        InterProcessLock both = both(LockOptions.defaults().withHoldAtMost(MOST));
        lose(both::acquire);
        assertTellsOfTheLoss(both);
        letMinutesPass();
        assertThat(PrintedWhile.running(() -> both.tryAcquire().orElseThrow().close()))
                .containsOnlyOnce("WARN");
    }

    @Test
    void severalLocksThatAreAllLost_areGivenBackAsOne() throws Exception {
        InterProcessLock both = both(LockOptions.defaults().withHoldAtMost(MOST));
        lose(both::acquire);
        assertThatThrownBy(both::release).isInstanceOf(LockLostException.class);
        both.acquire().close();
    }

    private CompletableFuture<Lease> heldAsync() {
        CompletableFuture<Lease> wanted = lock.acquireAsync();
        scheduler.run();
        assertThat(wanted).isCompleted();
        return wanted;
    }

    @Test
    void heldLeaseOfNoThread_countsAsHeld_untilItIsLost() {
        AtomicInteger losses = new AtomicInteger();
        Lease lease = heldAsync().join();
        lease.onLost(losses::incrementAndGet);
        assertThat(lock.isAcquiredInThisProcess()).isTrue();
        scheduler.advance(MOST);
        assertThat(losses).hasValue(1);
        assertThat(lock.isAcquiredInThisProcess()).isFalse();
    }

    /** Only by the lease itself can it be closed, and no thread is in the middle of what it protects. */
    @Test
    void lostLeaseOfNoThread_isInNoRecord_andKeepsNobodyFromTheLock() throws Exception {
        Lease lease = heldAsync().join();
        scheduler.advance(MOST);
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        assertThat(EngineClient.of(client).holds().ofNobody())
                .extracting("open", MAP)
                .isEmpty();
        lock.acquire().close();
        lease.close();
    }
}
