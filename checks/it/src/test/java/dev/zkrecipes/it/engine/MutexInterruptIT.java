// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Lateness;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What an interruption does: the contracts of InterProcessLock and of java.util.concurrent.locks.Lock. */
@WithZooKeeper(tickTimeMillis = 200)
@Timeout(600)
class MutexInterruptIT {
    private static final Duration AT_ONCE = Duration.ofMillis(500);

    private final EmbeddedZooKeeper server;
    private final String path;
    private ZooKeeperClient client;
    private ZooKeeperClient other;
    private InterProcessMutex holder;
    private InterProcessMutex mutex;
    private Lateness lateness;

    MutexInterruptIT(EmbeddedZooKeeper server, TestInfo test) {
        this.server = server;
        this.path = "/interrupt/" + test.getTestMethod().orElseThrow().getName();
    }

    @BeforeEach
    void connect() throws Exception {
        lateness = Lateness.measure();
        client = ZooKeeperClient.builder()
                .connectString(server.connectString())
                .sessionTimeout(TestClients.LONG_SESSION)
                .build();
        other = TestClients.connect(server.connectString()); // somebody else, also in the same thread
        holder = new InterProcessMutex(other, path);
        mutex = new InterProcessMutex(client, path);
        mutex.acquire().close();
    }

    @AfterEach
    void close() {
        Thread.interrupted();
        client.close();
        other.close();
        lateness.close();
    }

    private void joinAtOnce(Workers workers) throws InterruptedException {
        Duration before = lateness.soFar();
        long start = System.nanoTime();
        workers.join(Duration.ofSeconds(20));
        assertThat(Duration.ofNanos(System.nanoTime() - start))
                .isLessThan(AT_ONCE.plus(lateness.soFar()).minus(before));
    }

    /** The calls that may be interrupted. */
    enum Call {
        ACQUIRE {
            @Override
            void on(InterProcessLock lock) throws InterruptedException {
                lock.acquire();
            }
        },
        TIMED {
            @Override
            void on(InterProcessLock lock) throws InterruptedException {
                lock.tryAcquire(Duration.ofSeconds(20));
            }
        },
        LOCK_INTERRUPTIBLY {
            @Override
            void on(InterProcessLock lock) throws InterruptedException {
                lock.asLock().lockInterruptibly();
            }
        },
        TIMED_TRY_LOCK {
            @Override
            void on(InterProcessLock lock) throws InterruptedException {
                lock.asLock().tryLock(20, TimeUnit.SECONDS);
            }
        };

        abstract void on(InterProcessLock lock) throws InterruptedException;

        void assertInterrupted(InterProcessLock lock) {
            assertThatThrownBy(() -> on(lock)).isInstanceOf(InterruptedException.class);
            assertThat(Thread.currentThread().isInterrupted())
                    .as("flag beside the exception")
                    .isFalse();
            assertThat(lock.isHeldByCurrentThread()).isFalse();
        }
    }

    @Test
    @Tag("H52")
    void interruptedWhileDisconnected_endsAtOnce_andLeavesTheQueueLater() throws Exception {
        int calls = Call.values().length;
        Lease held = holder.acquire();
        try (Workers workers = new Workers()) {
            List<Thread> waiting = new ArrayList<>(startAll(workers, "queued"));
            awaitQueue(1 + calls);
            server.stop();
            await().until(() -> client.connectionState() == ConnectionState.SUSPENDED);
            waiting.addAll(startAll(workers, "newcomer"));
            await().until(() -> waiting.stream().allMatch(MutexInterruptIT::isWaiting));
            waiting.forEach(Thread::interrupt);
            joinAtOnce(workers);
        } finally {
            server.restart();
        }
        awaitQueue(1);
        held.close();
        mutex.tryAcquire(Duration.ofSeconds(20)).orElseThrow().close();
        assertThat(server.children(path)).isEmpty();
    }

    private List<Thread> startAll(Workers workers, String name) {
        return Arrays.stream(Call.values())
                .map(call -> workers.start(name + " " + call, () -> call.assertInterrupted(mutex)))
                .toList();
    }

    @Test
    @Tag("H54")
    void lock_isNotInterruptible_andKeepsTheFlag() throws Exception {
        Lock lock = mutex.asLock();
        Lease held = holder.acquire();
        try (Workers workers = new Workers()) {
            Thread early = workers.start("interrupted on entry", () -> {
                Thread.currentThread().interrupt();
                lockAndAssertInterrupted(lock);
            });
            awaitQueue(2);
            Thread waiter = workers.start("interrupted while waiting", () -> lockAndAssertInterrupted(lock));
            awaitQueue(3);
            waiter.interrupt();
            await().until(() -> isWaiting(waiter) && !waiter.isInterrupted());
            assertThat(server.children(path)).as("both keep their places").hasSize(3);
            assertThat(early.isAlive()).isTrue();
            held.close();
            workers.join(Duration.ofSeconds(20));
        }
        assertThat(server.children(path)).isEmpty();
    }

    @SuppressWarnings("LockNotBeforeTry") // a failure in between fails the test
    private void lockAndAssertInterrupted(Lock lock) {
        lock.lock();
        assertThat(mutex.isHeldByCurrentThread()).isTrue();
        assertThat(Thread.currentThread().isInterrupted()).as("flag").isTrue();
        lock.unlock();
        assertThat(Thread.currentThread().isInterrupted()).as("flag").isTrue();
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

        Lease held = holder.acquire();
        for (long noWait : new long[] {0, -1, Long.MIN_VALUE}) {
            long start = System.nanoTime();
            assertThat(lock.tryLock(noWait, TimeUnit.SECONDS)).isFalse();
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(AT_ONCE.plus(lateness.soFar()));
        }
        assertThat(lock.tryLock()).isFalse();
        Thread.currentThread().interrupt();
        assertThat(lock.tryLock()).as("tryLock() is not interruptible").isFalse();
        assertThat(Thread.interrupted()).as("flag").isTrue();
        held.close();
        assertThat(server.children(path)).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(TimeUnit.class)
    @Tag("H54")
    void tryLockForever_doesNotOverflow(TimeUnit unit) throws Exception {
        assertThat(mutex.asLock().tryLock(Long.MAX_VALUE, unit)).isTrue();
        mutex.release();
    }

    private static boolean isWaiting(Thread worker) {
        Thread.State state = worker.getState();
        return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
    }

    private void awaitQueue(int length) {
        await().until(() -> server.children(path).size() == length);
    }
}
