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
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.GrantingDriver;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.internal.lock.ModeDriver;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockGroups;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.Ports;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Holds are known by thread, client and path, whatever object they go through. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // a thread that waits for itself spins
@Tag("H99")
class HoldsByThreadTest {
    private static final String PATH = "/locks/orders";

    private final ManualScheduler scheduler = new ManualScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler);
    private final ZooKeeperClient client = Ports.clientBuilder(states -> operations, scheduler)
            .callbackExecutor(Runnable::run)
            .build();

    /** Has no {@code equals}. */
    private static final class Unequal implements LockDriver {
        @Override
        public String nodeName() {
            return "lock-";
        }

        @Override
        public Optional<LockNode> parse(String childName) {
            return LockNode.parse(childName, "lock-");
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            return Decision.grantedIfFirst(predecessors);
        }
    }

    private LockInternals internals(LockDriver driver) {
        return new LockInternals(client, PATH, driver, LockOptions.defaults());
    }

    private InterProcessLock lock(LockDriver driver) {
        return internals(driver).threadOwned();
    }

    private LockGroups.Modes modes() {
        return LockGroups.modes(
                client, PATH, new ModeDriver("write-"), new ModeDriver("read-"), LockOptions.defaults());
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
        InterProcessLock one = lock(new MutexDriver());
        Lease first = one.acquire();
        operations.requests();
        InterProcessLock other = new LockInternals(
                        client,
                        PATH,
                        new MutexDriver(),
                        LockOptions.defaults().withQueueLossPolicy(QueueLossPolicy.FAIL))
                .threadOwned();
        Lease second = other.acquire();
        assertThat(operations.requests()).isEmpty();
        assertThat(second.fencingToken()).isEqualTo(first.fencingToken());
        for (InterProcessLock each : List.of(one, other, lock(new MutexDriver()))) {
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
        Lease first = lock(new MutexDriver()).acquire();
        Lease second = lock(new MutexDriver()).acquire();
        InterProcessLock third = lock(new MutexDriver());
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
        InterProcessLock permits = internals(new GrantingDriver()).unowned();
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
        InterProcessLock permits = internals(new GrantingDriver()).unowned();
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
        InterProcessLock lock = lock(new MutexDriver());
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
        InterProcessLock lock = lock(new MutexDriver());
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
        InterProcessLock instance = internals(new MutexDriver()).instanceOwned();
        instance.acquire();
        instance.release();
        assertThatThrownBy(instance::release)
                .isInstanceOf(IllegalMonitorStateException.class)
                .hasMessage("nothing is held through this object of the lock " + PATH
                        + ": it was given back already, or never acquired; release once for each acquire");
        Thread.currentThread().setName(""); // as that of a virtual thread
        assertThatThrownBy(lock(new MutexDriver())::release)
                .isInstanceOf(IllegalMonitorStateException.class)
                .hasMessage("thread #" + Thread.currentThread().getId() + " does not hold the lock " + PATH);
    }

    @Test
    void nullTimeout_isRejectedBeforeAnythingIsSent() {
        InterProcessLock lock = lock(new MutexDriver());
        operations.requests();
        assertThatThrownBy(() -> lock.tryAcquire(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("the time-out is null: give a duration, zero for none");
        assertThat(operations.requests()).isEmpty();
    }

    @Test
    void lockOfAnotherRule_isRefusedAtOnce_namingBoth() throws Exception {
        try (Lease held = lock(new MutexDriver()).acquire()) {
            assertRefused(lock(new TestDriver("other-")), PATH, "MutexDriver", "lock-", "TestDriver", "other-");
            assertRefused(modes().shared(), PATH, "MutexDriver", "read-");
            assertThat(held.isValid()).isTrue();
        }
        try (Lease other = lock(new TestDriver("other-")).acquire()) {
            assertThat(other.isValid()).isTrue();
            assertRefused(lock(new MutexDriver()), "TestDriver", "MutexDriver");
        }
        scheduler.run();
        assertThat(operations.nodes()).isEmpty();
    }

    @Test
    void driverWithoutEquals_isARuleOfItsOwn() throws Exception {
        LockDriver shared = new Unequal();
        try (Lease first = lock(shared).acquire();
                Lease second = lock(shared).acquire()) {
            assertThat(second.fencingToken()).isEqualTo(first.fencingToken());
            assertRefused(lock(new Unequal()), "Unequal");
        }
    }

    @Test
    void lossThroughOneLock_isToldByEveryLockOfTheRule() throws Exception {
        Lease lease = lock(new MutexDriver()).acquire();
        lose(lease);
        InterProcessLock other = lock(new MutexDriver());
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
        InterProcessLock mine = lock(new MutexDriver());
        InterProcessLock instance = internals(new MutexDriver()).instanceOwned();
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
        InterProcessLock instance = internals(new MutexDriver()).instanceOwned();
        Lease held = lock(new MutexDriver()).acquire();
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
        try (Lease held = lock(new MutexDriver()).acquire()) {
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
        CompletableFuture<Lease> wanted = lock(new MutexDriver()).acquireAsync();
        scheduler.run();
        Lease lease = wanted.get();
        InterProcessLock other = lock(new MutexDriver());
        assertThat(other.isAcquiredInThisProcess()).isTrue();
        assertThat(other.isHeldByCurrentThread()).isFalse();
        assertThat(other.tryAcquire()).isEmpty();
        lease.close();
        assertThat(other.isAcquiredInThisProcess()).isFalse();
    }
}
