// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The calls of a mutex, and of its view as a lock of the JDK, by an interrupted thread and on an event thread. */
class MutexCallsIT extends ServerStage {
    private ZooKeeperClient client;
    private InterProcessMutex mutex;

    @BeforeEach
    void connect() throws InterruptedException {
        client = client();
        mutex = new InterProcessMutex(client, path);
        mutex.acquire().close();
    }

    @AfterEach
    void clearFlag() {
        Thread.interrupted();
    }

    @Test
    @Tag("H53")
    void releaseWithTheInterruptFlagSet_deletesTheNodeAndKeepsTheFlag() throws Exception {
        for (Consumer<Lease> way : List.<Consumer<Lease>>of(
                Lease::close, lease -> mutex.release(), lease -> mutex.asLock().unlock(), Lease::closeAsync)) {
            Lease lease = mutex.acquire();
            Thread.currentThread().interrupt();
            way.accept(lease);
            assertThat(Thread.interrupted()).as("flag").isTrue();
            awaitNodes(0);
        }
    }

    @Test
    @Tag("H54")
    @SuppressWarnings("LockNotBeforeTry") // the calls themselves are what is tested
    void lockView_keepsTheContractOfLock() throws Exception {
        Lock lock = mutex.asLock();
        assertThatThrownBy(lock::newCondition).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
        lock.lock();
        lock.lock();
        assertThat(mutex.holdCount()).isEqualTo(2);
        lock.unlock();
        lock.unlock();
        for (long noWait : new long[] {0, -1, Long.MIN_VALUE}) {
            assertThat(lock.tryLock(noWait, TimeUnit.SECONDS)).isTrue();
            lock.unlock();
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> lock.tryLock(noWait, TimeUnit.SECONDS)).isInstanceOf(InterruptedException.class);
        }
        Lease held = new InterProcessMutex(client(), path).acquire();
        for (long noWait : new long[] {0, -1, Long.MIN_VALUE}) {
            assertThat(lock.tryLock(noWait, TimeUnit.SECONDS)).isFalse();
        }
        Thread.currentThread().interrupt();
        assertThat(lock.tryLock()).as("tryLock() is not interruptible").isFalse();
        assertThat(Thread.interrupted()).as("flag").isTrue();
        held.close();
        assertThat(server.children(path)).isEmpty();
    }

    @Test
    @Tag("H34")
    void blockingCallsOnTheEventThread_areRefused() throws Exception {
        Lease lease = Soon.get(mutex.acquireAsync());
        List<ThrowingCallable> calls = List.of(
                () -> mutex.tryAcquire(Duration.ZERO),
                mutex::participants,
                () -> new Revoker(client).request(mutex),
                lease::verify,
                () -> client.awaitConnected(Duration.ofSeconds(120)));
        CompletableFuture<Void> refused = new CompletableFuture<>();
        client.zooKeeper()
                .orElseThrow()
                .exists(
                        "/",
                        false,
                        (code, asked, context, stat) -> {
                            try {
                                for (ThrowingCallable call : calls) {
                                    assertThatThrownBy(call)
                                            .isInstanceOf(IllegalStateException.class)
                                            .hasMessageContaining("acquireAsync");
                                }
                                refused.complete(null);
                            } catch (AssertionError e) {
                                refused.completeExceptionally(e);
                            }
                        },
                        null);
        Soon.get(refused);
        lease.close();
        assertThat(server.children(path)).isEmpty();
    }
}
