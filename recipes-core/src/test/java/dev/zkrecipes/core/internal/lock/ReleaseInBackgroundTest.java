// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.ClientScene;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.hold.HeldNode;
import dev.zkrecipes.core.internal.hold.Hold;
import dev.zkrecipes.core.spi.LockGroups;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whoever gives back in the background does not wait, and misses nothing but the wait. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // a thread that waits for nothing spins
class ReleaseInBackgroundTest extends ClientScene {
    private static final String PATH = "/locks/orders";
    private static final LockOptions BACKGROUND = LockOptions.defaults().withReleaseInBackground();

    private final InterProcessLock lock = lock(PATH, BACKGROUND);
    private final AtomicInteger waits = new AtomicInteger();

    private enum Way {
        CLOSE((lock, lease) -> lease.close()),
        RELEASE((lock, lease) -> lock.release()),
        UNLOCK((lock, lease) -> lock.asLock().unlock());

        private final BiConsumer<InterProcessLock, Lease> code;

        Way(BiConsumer<InterProcessLock, Lease> code) {
            this.code = code;
        }

        void giveBack(InterProcessLock lock, Lease lease) {
            code.accept(lock, lease);
        }
    }

    @BeforeEach
    void countWaits() {
        scheduler.inTheWait = waits::incrementAndGet;
    }

    @AfterEach
    void clearFlag() {
        var unused = Thread.interrupted();
    }

    private int waitsOf(Runnable call) {
        int before = waits.get();
        call.run();
        return waits.get() - before;
    }

    @ParameterizedTest
    @EnumSource
    void givingBack_doesNotWait_andKeepsTheInterruptFlag(Way way) throws InterruptedException {
        Lease lease = lock.acquire();
        operations.delayAnswerOf(Request.DELETE, Duration.ofSeconds(1));
        Thread.currentThread().interrupt();
        assertThat(waitsOf(() -> way.giveBack(lock, lease))).isZero();
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
        assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        assertThat(lock.isAcquiredInThisProcess()).isFalse();
        CompletableFuture<Void> confirmed = lease.closeAsync();
        scheduler.run();
        assertThat(operations.nodes()).isEmpty();
        assertThat(confirmed).isNotDone();
        scheduler.advance(Duration.ofSeconds(1));
        assertThat(confirmed).isCompleted();
    }

    @ParameterizedTest
    @EnumSource
    void givingBack_withoutTheOption_waitsOnce(Way way) throws InterruptedException {
        InterProcessLock confirmed = lock(PATH);
        Lease lease = confirmed.acquire();
        assertThat(waitsOf(() -> way.giveBack(confirmed, lease))).isOne();
        assertThat(operations.nodes()).isEmpty();
    }

    @Test
    void nextAcquire_isSentBehindTheDeletion() throws InterruptedException {
        lock.acquire().close();
        operations.requests();
        Lease next = lock.acquire();
        assertThat(operations.requests()).startsWith(Request.DELETE).endsWith(Request.CREATE, Request.LIST);
        assertThat(next.isValid()).isTrue();
    }

    @Test
    void nextTry_findsTheLockFree_thoughTheDeletionIsNotAnswered() throws InterruptedException {
        lock.acquire().close();
        operations.delayAnswerOf(Request.DELETE, Duration.ofSeconds(1));
        assertThat(lock.tryAcquire()).isPresent();
    }

    @Test
    void refusedDeletion_isNotThrown_butToldByCloseAsyncAndTheNextAcquire() throws InterruptedException {
        Lease lease = lock.acquire();
        operations.refuse(Request.DELETE, Code.NOAUTH);
        operations.refuse(Request.MULTI, Code.NOAUTH, Code.NOAUTH);
        lease.close();
        scheduler.run();
        lease.close();
        assertThat(lease.closeAsync())
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withCauseInstanceOf(LockAccessException.class);
        assertThatThrownBy(lock::acquire).isInstanceOf(LockAccessException.class);
    }

    @Test
    void lostLease_isStillToldByRelease() throws InterruptedException {
        Lease lease = lock.acquire();
        ((HeldNode) ((Hold) lease).grant().first()).lose("the test says so");
        assertThatThrownBy(lock::release).isInstanceOf(LockLostException.class);
        assertThat(lock.holdCount()).isZero();
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
    }

    @Test
    void option_followsTheLockObjectOfTheHold() throws InterruptedException {
        InterProcessLock confirmed = lock(PATH);
        Lease first = confirmed.acquire();
        Lease second = lock.acquire();
        first.close();
        assertThat(waitsOf(() -> confirmed.release()))
                .as("the last is the other's")
                .isZero();
        assertThat(second.state()).isEqualTo(LeaseState.RELEASED);
        scheduler.run();

        Lease third = lock.acquire();
        Lease fourth = confirmed.acquire();
        third.close();
        assertThat(waitsOf(() -> lock.release())).isOne();
        assertThat(fourth.state()).isEqualTo(LeaseState.RELEASED);
    }

    @Test
    void multiLock_goesByItsOwnOptions() throws InterruptedException {
        List<InterProcessLock> members = List.of(lock("/locks/a"), lock("/locks/b", BACKGROUND));
        Lease confirmed = LockGroups.together(members, LockOptions.defaults()).acquire();
        assertThat(waitsOf(() -> confirmed.close())).isOne();
        Lease inBackground = LockGroups.together(members, BACKGROUND).acquire();
        assertThat(waitsOf(() -> inBackground.close())).isZero();
        assertThat(operations.nodes()).hasSize(2);
        scheduler.run();
        assertThat(operations.nodes()).isEmpty();
    }

    @Test
    void locksWithoutAnOwningThread_doNotWaitEither() throws InterruptedException {
        InterProcessLock unowned = internals(PATH, BACKGROUND).unowned();
        Optional<Lease> lease = unowned.tryAcquire();
        assertThat(waitsOf(() -> lease.orElseThrow().close())).isZero();
        InterProcessLock instance = internals(PATH, BACKGROUND).instanceOwned();
        instance.acquire();
        assertThat(waitsOf(() -> instance.release())).isZero();
        scheduler.run();
        assertThat(operations.nodes()).isEmpty();
    }

    @Test
    void closingTheClient_takesTheNodeAlong() throws InterruptedException {
        lock.acquire().close();
        client.close();
        assertThat(operations.nodes()).isEmpty();
    }
}
