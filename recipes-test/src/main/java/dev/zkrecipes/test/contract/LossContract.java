// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.test.internal.Soon;
import dev.zkrecipes.test.internal.TimedTry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Once the server has ended the session, every call reports the loss, and each release reduces the number of holds by
 * one.
 */
public abstract class LossContract extends Stage {
    /** Creates the suite; the test of a recipe extends it. */
    protected LossContract() {}

    @Test
    @Tag("H02")
    void lostLock_isReportedByEveryCall() throws InterruptedException {
        Lease lease = lock.acquire();
        Lease rivals = loseToTheRival(lease);

        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        assertThat(lease.isValid()).as("isValid() of a lost lease").isFalse();
        scene.assertHeldByThisThread(false);
        scene.assertAcquired(false);
        assertThat(lock.holdCount()).isEqualTo(1);
        assertLost(lease::fencingToken);
        assertLost(lease::guard);
        assertLost(lease::verify);
        assertNobodyGetsTheLock();
        Soon.await().until(rivals::isValid);

        lease.close();
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        rivals.verify();
        rivals.close();
        lock.acquire().close();
        scene.assertNothingLeft();
    }

    @Test
    @Tag("H02")
    void releaseOfALostLock_countsDownAndThrows() throws InterruptedException {
        // These leases stay reachable until the end of the test: a lost lease that nobody refers to any more counts
        // as closed.
        List<Lease> leases = new ArrayList<>(List.of(lock.acquire()));
        if (recipe().ownership() == Ownership.REENTRANT_THREAD) {
            leases.add(lock.acquire());
            leases.add(lock.acquire());
        }
        Lease rivals = loseToTheRival(leases.get(0));
        for (int left = leases.size(); left > 0; left--) {
            assertThat(lock.holdCount()).isEqualTo(left);
            assertNobodyGetsTheLock();
            assertLost(lock::release);
        }
        assertThat(lock.holdCount()).isZero();
        assertThat(leases).extracting(Lease::state).containsOnly(LeaseState.LOST);
        assertThatThrownBy(lock::release).isInstanceOf(IllegalMonitorStateException.class);
        assertThat(lock.tryAcquire()).isEmpty();
        rivals.verify();
        rivals.close();
        lock.acquire().close();
        scene.assertNothingLeft();
    }

    @Test
    @Tag("H02")
    void lossListenersAndFuture_areNotifiedOnce() throws InterruptedException {
        Lease lease = lock.acquire();
        AtomicInteger before = new AtomicInteger();
        AtomicInteger after = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        lease.onLost(() -> {
            threads.add(Thread.currentThread());
            before.incrementAndGet();
        });
        lease.onLost(() -> {
            throw new IllegalStateException("a listener that fails");
        });
        CompletableFuture<LeaseState> ended = lease.ended().toCompletableFuture();
        assertThat(ended).isNotDone();
        Lease rivals = loseToTheRival(lease);
        assertThat(Soon.get(ended)).isEqualTo(LeaseState.LOST);
        lease.onLost(after::incrementAndGet);
        await().until(() -> after.get() == 1);
        assertThat(Soon.get(lease.ended())).isEqualTo(LeaseState.LOST);
        await().until(() -> before.get() == 1);
        lease.close();
        rivals.close();
        lock.acquire().close();
        contenders.client.close(); // ends the session once more
        assertThat(before).hasValue(1);
        assertThat(after).hasValue(1);
        assertThat(threads.get(0).getName()).startsWith("zkrecipes-loss-");
    }

    @Test
    void releasedLease_isNotLostLater() throws InterruptedException {
        Lease lease = lock.acquire();
        AtomicInteger lost = new AtomicInteger();
        lease.onLost(lost::incrementAndGet);
        lease.close();
        assertThat(Soon.get(lease.ended())).isEqualTo(LeaseState.RELEASED);
        contenders.client.close();
        assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(lost).hasValue(0);
    }

    @Test
    void closingTheClient_losesItsLeases() throws InterruptedException {
        Lease lease = lock.acquire();
        CompletableFuture<LeaseState> ended = lease.ended().toCompletableFuture();
        contenders.client.close();
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        assertThat(Soon.get(ended)).isEqualTo(LeaseState.LOST);
        assertLost(lease::fencingToken);
        lease.close();
        scene.assertNothingLeft();
    }

    @Test
    void lossOfAnAsynchronousLease_isReported_andClosingItIsSilent() throws InterruptedException {
        Lease lease = Soon.get(lock.acquireAsync());
        Lease rivals = loseToTheRival(lease);
        scene.assertAcquired(false);
        assertLost(lease::verify);
        Soon.get(lease.closeAsync());
        rivals.close();
        scene.assertNothingLeft();
    }

    private Lease loseToTheRival(Lease lease) throws InterruptedException {
        contenders.expire();
        Lease rivals = scene.rival.tryAcquire(Duration.ofSeconds(20)).orElseThrow();
        await().until(() -> lease.state() == LeaseState.LOST);
        contenders.awaitConnected(); // in the next session
        return rivals;
    }

    /**
     * Checks that the calling thread cannot acquire the lock. The calls report the loss. If the lost hold belongs to
     * nobody, they report instead that the lock is busy.
     */
    private void assertNobodyGetsTheLock() throws InterruptedException {
        if (recipe().ownership() == Ownership.NOBODY) {
            assertThat(lock.tryAcquire()).isEmpty();
            assertThat(TimedTry.on(lock)).isEmpty();
            assertThat(lock.asLock().tryLock())
                    .as("tryLock() of a lock that the rival holds")
                    .isFalse();
        } else {
            assertLost(lock::acquire);
            assertLost(lock::tryAcquire);
            assertLost(() -> lock.tryAcquire(Duration.ofSeconds(1)));
            assertLost(lock.asLock()::lock);
            assertLost(lock.asLock()::tryLock);
        }
    }

    private void assertLost(ThrowingCallable call) {
        assertThatThrownBy(call).isExactlyInstanceOf(LockLostException.class).hasMessageContaining(scene.path);
    }
}
