// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.MultiLease;
import dev.zkrecipes.core.QueueLossPolicy;
import dev.zkrecipes.core.internal.ClientScene;
import dev.zkrecipes.core.internal.LockNodeDriver;
import dev.zkrecipes.core.internal.ModeDriver;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockGroups;
import dev.zkrecipes.core.spi.MutexDriver;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Holds are known by thread, client and path, whatever object they go through. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // a thread that waits for itself spins
@Tag("H99")
class HoldsByThreadTest extends ClientScene {
    private static final String PATH = "/locks/orders";

    private InterProcessLock lock(LockDriver driver) {
        return internals(PATH, driver).threadOwned();
    }

    private LockGroups.Modes modes() {
        return LockGroups.modes(client, PATH, ModeDriver.EXCLUSIVE, ModeDriver.SHARED, LockOptions.defaults());
    }

    private static void lose(Lease lease) {
        ((HeldNode) ((Hold) lease).grant().first()).lose("the test says so");
    }

    private void assertRefused(InterProcessLock asked, String... words) {
        operations.requests();
        for (Callable<?> way : List.<Callable<?>>of(
                asked::acquire, asked::tryAcquire, () -> asked.tryAcquire(Duration.ofSeconds(1)))) {
            assertThatExceptionOfType(LockRefusedException.class)
                    .isThrownBy(way::call)
                    .satisfies(refused -> assertThat(refused).hasMessageContainingAll(words));
        }
        scheduler.run();
        assertThat(operations.requests()).isEmpty();
    }

    @Test
    void otherLockOfAnEqualRule_isHeldOnceMoreAtOnce() throws Exception {
        InterProcessLock one = lock(PATH);
        Lease first = one.acquire();
        operations.requests();
        InterProcessLock other = lock(PATH, LockOptions.defaults().withQueueLossPolicy(QueueLossPolicy.FAIL));
        Lease second = other.acquire();
        assertThat(operations.requests()).isEmpty();
        assertThat(second.fencingToken()).isEqualTo(first.fencingToken());
        for (InterProcessLock each : List.of(one, other, lock(PATH))) {
            assertThat(each.holdCount()).isEqualTo(2);
            assertThat(each.isHeldByCurrentThread()).isTrue();
            assertThat(each.isAcquiredInThisProcess()).isTrue();
        }
        first.close();
        assertThat(other.isHeldByCurrentThread()).isTrue();
        assertThat(operations.nodes()).hasSize(1);
        second.close();
        scheduler.run();
        assertThat(one.holdCount()).isZero();
        assertThat(operations.nodes()).isEmpty();
    }

    @Test
    @Tag("H93")
    void release_throughAnyLockOfTheRule_givesBackTheYoungest() throws Exception {
        Lease first = lock(PATH).acquire();
        Lease second = lock(PATH).acquire();
        InterProcessLock third = lock(PATH);
        third.release();
        assertThat(second.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(first.state()).isEqualTo(LeaseState.HELD);
        third.release();
        assertThat(first.state()).isEqualTo(LeaseState.RELEASED);
        assertThatThrownBy(third::release).isInstanceOf(IllegalMonitorStateException.class);
    }

    @Test
    @Tag("H93")
    void release_givesBackTheYoungest_alsoIfAnOlderIsLost() throws Exception {
        InterProcessLock permits =
                internals(PATH, new TestDriver("lock-", Integer.MAX_VALUE)).unowned();
        Lease older = permits.acquire();
        lose(older);
        Lease younger = permits.acquire();
        permits.release();
        assertThat(younger.state()).isEqualTo(LeaseState.RELEASED);
        assertThatThrownBy(permits::release).isInstanceOf(LockLostException.class);
        assertThat(permits.holdCount()).isZero();
    }

    @Test
    @Tag("H93")
    void release_givesBackTheYoungestHoldThatIsNotLost() throws Exception {
        InterProcessLock permits =
                internals(PATH, new TestDriver("lock-", Integer.MAX_VALUE)).unowned();
        Lease oldest = permits.acquire();
        Lease older = permits.acquire();
        Lease lost = permits.acquire();
        lose(lost);
        permits.release();
        assertThat(older.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(oldest.state()).isEqualTo(LeaseState.HELD);
        permits.release();
        assertThat(oldest.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(permits.holdCount()).isOne();
        assertThatThrownBy(permits::release).isInstanceOf(LockLostException.class);
        assertThatThrownBy(permits::release).isInstanceOf(IllegalMonitorStateException.class);
    }

    @Test
    @Tag("H103")
    void closedLease_hasNoToken_asItHasNoGuard() throws Exception {
        InterProcessLock lock = lock(PATH);
        Lease kept = lock.acquire();
        Lease closed = lock.acquire();
        closed.close();
        for (Callable<?> question : List.<Callable<?>>of(
                closed::fencingToken,
                () -> MultiLease.tokensOf(closed),
                closed::guard,
                () -> MultiLease.guardsOf(closed))) {
            assertThatThrownBy(question::call)
                    .isInstanceOf(IllegalMonitorStateException.class)
                    .hasMessage("this hold of the lock " + PATH + " is closed");
        }
        assertThat(kept.fencingToken()).isPositive();
        kept.close();
    }

    @Test
    void toString_showsTheHold() throws Exception {
        InterProcessLock lock = lock(PATH);
        Thread.currentThread().setName("worker-1");
        assertThat(lock).asString().startsWith(PATH + ", not held by thread worker-1, ZooKeeperClient[");
        Lease lease = lock.acquire();
        String token = "token " + lease.fencingToken();
        assertThat(lease).hasToString("Lease[" + PATH + ", HELD, " + token + ", session 0x" + session() + "]");
        assertThat(lock)
                .asString()
                .startsWith(PATH + ", " + lease + ", ZooKeeperClient[")
                .contains("CONNECTED, session 0x" + session() + " with a time-out of PT30S, owner ");
        lease.close();
        assertThat(lease).asString().contains("RELEASED, " + token);
    }

    private String session() {
        return Long.toHexString(operations.sessionId());
    }

    @Test
    void releaseWithoutAHold_namesTheOwner() throws Exception {
        InterProcessLock instance = internals(PATH, new MutexDriver()).instanceOwned();
        instance.acquire();
        instance.release();
        assertThatThrownBy(instance::release)
                .isInstanceOf(IllegalMonitorStateException.class)
                .hasMessage("nothing is held through this object of the lock " + PATH
                        + ": it was given back already, or never acquired; release once for each acquire");
        Thread.currentThread().setName(""); // as that of a virtual thread
        assertThatThrownBy(lock(PATH)::release)
                .isInstanceOf(IllegalMonitorStateException.class)
                .hasMessage("thread #" + Thread.currentThread().getId() + " does not hold the lock " + PATH);
    }

    @Test
    void lockOfAnotherRule_isRefusedAtOnce_namingBoth() throws Exception {
        try (Lease held = lock(PATH).acquire()) {
            assertRefused(lock(new TestDriver("other-")), PATH, "MutexDriver", "lock-", "TestDriver", "other-");
            assertRefused(modes().shared(), PATH, "MutexDriver", "read-");
            assertThat(held.isValid()).isTrue();
        }
        try (Lease other = lock(new TestDriver("other-")).acquire()) {
            assertThat(other.isValid()).isTrue();
            assertRefused(lock(PATH), "TestDriver", "MutexDriver");
        }
        scheduler.run();
        assertThat(operations.nodes()).isEmpty();
    }

    @Test
    void driverWithoutEquals_isARuleOfItsOwn() throws Exception {
        LockNodeDriver shared = (predecessors, self) -> Decision.grantedIfFirst(predecessors);
        LockNodeDriver unequal = (predecessors, self) -> Decision.grantedIfFirst(predecessors);
        try (Lease first = lock(shared).acquire();
                Lease second = lock(shared).acquire()) {
            assertThat(second.fencingToken()).isEqualTo(first.fencingToken());
            assertRefused(lock(unequal), HoldsByThreadTest.class.getSimpleName());
        }
    }

    @Test
    void lossThroughOneLock_isToldByEveryLockOfTheRule() throws Exception {
        Lease lease = lock(PATH).acquire();
        lose(lease);
        InterProcessLock other = lock(PATH);
        assertThatThrownBy(other::acquire).isInstanceOf(LockLostException.class);
        assertThat(other.holdCount()).isEqualTo(1);
        assertThatThrownBy(other::release).isInstanceOf(LockLostException.class);
        other.acquire().close();
    }

    @Test
    void sharedModeOfAnotherObject_goesOnFromTheExclusiveOne() throws Exception {
        Lease writing = modes().exclusive().acquire();
        Lease reading = modes().shared().acquire();
        assertThat(reading.fencingToken()).isEqualTo(writing.fencingToken());
        assertThat(operations.nodes()).hasSize(2);
        writing.close();
        assertThat(reading.isValid()).isTrue();
        assertThat(modes().shared().holdCount()).isEqualTo(1);
        reading.close();
    }

    @Test
    void exclusiveMode_isRefusedToAHolderOfTheSharedOne_throughAnotherObject() throws Exception {
        try (Lease reading = modes().shared().acquire()) {
            InterProcessLock exclusive = modes().exclusive();
            assertThatThrownBy(exclusive::acquire)
                    .isInstanceOf(LockRefusedException.class)
                    .hasMessageContaining("shared mode");
            assertThatThrownBy(exclusive::tryAcquire).isInstanceOf(LockRefusedException.class);
            assertThat(reading.isValid()).isTrue();
        }
    }

    @Test
    void locksOfInstances_keepHoldsOfTheirOwn() throws Exception {
        InterProcessLock mine = lock(PATH);
        InterProcessLock instance = internals(PATH, new MutexDriver()).instanceOwned();
        try (Lease held = mine.acquire()) {
            assertThat(held.isValid()).isTrue();
            assertThat(instance.isAcquiredInThisProcess()).isFalse();
            assertThat(instance.holdCount()).isZero();
            assertThat(instance.tryAcquire()).isEmpty();
        }
        try (Lease held = instance.acquire()) {
            assertThat(held.isValid()).isTrue();
            assertThat(mine.holdCount()).isZero();
            assertThat(mine.isAcquiredInThisProcess()).isFalse();
        }
    }

    @Test
    @Tag("H99")
    void lockOfAnInstance_isRefusedToAThreadThatWouldWaitForItself() throws Exception {
        InterProcessLock instance = internals(PATH, new MutexDriver()).instanceOwned();
        Lease held = lock(PATH).acquire();
        operations.requests();
        for (Callable<?> way :
                List.<Callable<?>>of(instance::acquire, () -> instance.tryAcquire(Duration.ofSeconds(1)), () -> {
                    instance.asLock().lock();
                    return "locked";
                })) {
            assertThatExceptionOfType(LockRefusedException.class)
                    .isThrownBy(way::call)
                    .withMessageContaining("this thread holds the lock " + PATH)
                    .withMessageContaining("not re-entrant");
        }
        assertThat(operations.requests()).isEmpty();
        lose(held);
        scheduler.run();
        instance.acquire().close();
    }

    @Test
    @Tag("H52")
    void interruptedThread_isToldOnEntry() throws Exception {
        try (Lease held = lock(PATH).acquire()) {
            for (Callable<?> call : List.<Callable<?>>of(
                    () -> {
                        held.verify();
                        return "verified";
                    },
                    () -> client.awaitConnected(Duration.ofSeconds(1)))) {
                Thread.currentThread().interrupt();
                assertThatExceptionOfType(InterruptedException.class).isThrownBy(call::call);
                assertThat(Thread.interrupted()).isFalse();
            }
        }
    }

    @Test
    void asynchronousLease_isSeenByTheProcessAndNotByThreads() throws Exception {
        CompletableFuture<Lease> wanted = lock(PATH).acquireAsync();
        scheduler.run();
        Lease lease = wanted.get();
        InterProcessLock other = lock(PATH);
        assertThat(other.isAcquiredInThisProcess()).isTrue();
        assertThat(other.isHeldByCurrentThread()).isFalse();
        assertThat(other.tryAcquire()).isEmpty();
        lease.close();
        assertThat(other.isAcquiredInThisProcess()).isFalse();
    }
}
