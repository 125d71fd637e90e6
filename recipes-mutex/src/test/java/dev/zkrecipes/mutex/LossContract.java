// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.mutex;

import static dev.zkrecipes.mutex.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Once the server has ended the session, every question is answered with the loss, and the holds are counted down. */
@Timeout(60)
@WithZooKeeper(tickTimeMillis = 100)
abstract class LossContract {
    private EmbeddedZooKeeper server;
    private Contenders contenders;
    private Scene scene;
    private InterProcessLock lock;

    abstract Recipe recipe();

    @BeforeEach
    void open(EmbeddedZooKeeper started) throws InterruptedException {
        server = started;
        contenders = Contenders.open(server, recipe());
        scene = Scene.of(contenders);
        lock = scene.lock;
    }

    @AfterEach
    void close() {
        contenders.close();
    }

    @Test
    @Tag("H02")
    void lostLock_isToldToWhoeverAsks() throws Exception {
        Lease lease = lock.acquire();
        Lease rivals = loseToTheRival(lease);

        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        assertThat(lease.isValid()).isFalse();
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        assertThat(lock.isAcquiredInThisProcess()).isFalse();
        assertThat(lock.holdCount()).isEqualTo(1);
        assertLost(lease::fencingToken);
        assertLost(lease::guard);
        assertLost(lease::verify);
        assertLost(lock::acquire);
        assertLost(lock::tryAcquire);
        assertLost(() -> lock.tryAcquire(Duration.ofSeconds(1)));
        assertLost(lock.asLock()::lock);
        assertLost(lock.asLock()::tryLock);
        assertThat(rivals.isValid()).isTrue();

        lease.close();
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        rivals.verify();
        rivals.close();
        lock.acquire().close();
        scene.assertNothingLeft();
    }

    @Test
    @Tag("H02")
    void releaseOfALostLock_countsDownAndThrows() throws Exception {
        Lease lease = lock.acquire();
        int holds = 1;
        if (recipe().reentrant()) {
            lock.acquire();
            lock.acquire();
            holds = 3;
        }
        Lease rivals = loseToTheRival(lease);
        for (int left = holds; left > 0; left--) {
            assertThat(lock.holdCount()).isEqualTo(left);
            assertLost(lock::acquire);
            assertLost(lock::release);
        }
        assertThat(lock.holdCount()).isZero();
        assertThatThrownBy(lock::release).isInstanceOf(IllegalMonitorStateException.class);
        assertThat(lock.tryAcquire()).isEmpty();
        rivals.verify();
        rivals.close();
        lock.acquire().close();
        scene.assertNothingLeft();
    }

    @Test
    @Tag("H02")
    void lossListenersAndFuture_areToldOnce() throws Exception {
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
        CompletableFuture<LeaseState> ended = lease.ended();
        assertThat(ended).isNotDone();
        Lease rivals = loseToTheRival(lease);
        assertThat(ended.get(2, TimeUnit.SECONDS)).isEqualTo(LeaseState.LOST);
        lease.onLost(after::incrementAndGet);
        await().until(() -> after.get() == 1);
        assertThat(lease.ended().get(2, TimeUnit.SECONDS)).isEqualTo(LeaseState.LOST);
        lease.close();
        rivals.close();
        lock.acquire().close();
        contenders.client.close(); // and another end of the session
        assertThat(before).hasValue(1);
        assertThat(after).hasValue(1);
        assertThat(threads.get(0).getName()).startsWith("zkrecipes-callback-");
    }

    @Test
    void releasedLease_isNotLostLater() throws Exception {
        Lease lease = lock.acquire();
        AtomicInteger lost = new AtomicInteger();
        lease.onLost(lost::incrementAndGet);
        lease.close();
        assertThat(lease.ended().get(2, TimeUnit.SECONDS)).isEqualTo(LeaseState.RELEASED);
        contenders.client.close();
        assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(lost).hasValue(0);
    }

    @Test
    void closingTheClient_losesWhatIsHeld() throws Exception {
        Lease lease = lock.acquire();
        CompletableFuture<LeaseState> ended = lease.ended();
        contenders.client.close();
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        assertThat(ended.get(2, TimeUnit.SECONDS)).isEqualTo(LeaseState.LOST);
        assertLost(lease::fencingToken);
        lease.close();
        scene.assertNothingLeft();
    }

    @Test
    void lossOfAnAsynchronousLease_isToldAndClosingItIsSilent() throws Exception {
        Lease lease = lock.acquireAsync().get(2, TimeUnit.SECONDS);
        Lease rivals = loseToTheRival(lease);
        assertThat(lock.isAcquiredInThisProcess()).isFalse();
        assertLost(lease::verify);
        lease.closeAsync().get(2, TimeUnit.SECONDS);
        rivals.close();
        scene.assertNothingLeft();
    }

    private Lease loseToTheRival(Lease lease) throws InterruptedException {
        assertThat(server.expireSession(contenders.session())).isTrue();
        Lease rivals = scene.rival.tryAcquire(Duration.ofSeconds(1)).orElseThrow();
        await().until(() -> lease.state() == LeaseState.LOST);
        contenders.awaitConnected(); // in the next session
        return rivals;
    }

    private void assertLost(ThrowingCallable call) {
        assertThatThrownBy(call).isExactlyInstanceOf(LockLostException.class).hasMessageContaining(scene.path);
    }
}
