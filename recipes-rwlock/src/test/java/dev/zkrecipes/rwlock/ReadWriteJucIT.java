// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.rwlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.internal.ServerStage;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The lock as one of {@code java.util.concurrent}. */
class ReadWriteJucIT extends ServerStage {
    private ZooKeeperClient client;
    private ZooKeeperClient other;
    private InterProcessReadWriteLock lock;
    private InterProcessReadWriteLock rival;
    private ReadWriteLock view;

    @BeforeEach
    void connect() throws InterruptedException {
        client = client();
        lock = new InterProcessReadWriteLock(client, path);
        other = client(); // somebody else, also in the same thread
        rival = new InterProcessReadWriteLock(other, path);
        view = lock.asReadWriteLock();
    }

    @Test
    void holdsOfTheView_areHoldsOfTheLock() throws Exception {
        view.writeLock().lock();
        assertThat(lock.writeLock().holdCount()).isEqualTo(1);
        Lease again = lock.writeLock().acquire();
        view.writeLock().unlock();
        view.writeLock().unlock();
        assertThat(lock.writeLock().isHeldByCurrentThread()).isFalse();
        again.close(); // was given back by the second unlock
        assertThat(view.readLock().tryLock()).isTrue();
        lock.readLock().release();
        awaitNodes(0);
    }

    @Test
    void downgrade_byTheIdiomOfJavaUtilConcurrent_letsNoWriterIn() {
        view.writeLock().lock();
        try {
            view.readLock().lock();
        } finally {
            view.writeLock().unlock();
        }
        assertThat(rival.asReadWriteLock().writeLock().tryLock()).isFalse();
        assertThat(rival.asReadWriteLock().readLock().tryLock()).isTrue();
        rival.readLock().release();
        view.readLock().unlock();
        awaitNodes(0);
    }

    @Test
    void tryLockOfTheWriteSideByAReader_isRefused_alsoThroughAnotherLockObject() throws Exception {
        view.readLock().lock();
        ReadWriteLock same = new InterProcessReadWriteLock(client, path).asReadWriteLock();
        for (Lock write : List.of(view.writeLock(), same.writeLock())) {
            assertThatThrownBy(write::tryLock).isInstanceOf(LockRefusedException.class);
            assertThatThrownBy(() -> write.tryLock(0, TimeUnit.SECONDS)).isInstanceOf(LockRefusedException.class);
            assertThatThrownBy(() -> write.tryLock(20, TimeUnit.SECONDS)).isInstanceOf(LockRefusedException.class);
        }
        assertThat(rival.asReadWriteLock().writeLock().tryLock()).isFalse();
        same.readLock().unlock(); // what the thread holds, it holds through every object
        awaitNodes(0);
    }

    @Test
    void unlockWithoutAHold_isRefused_evenWhileTheOtherSideIsHeld() {
        for (Lock held : List.of(view.readLock(), view.writeLock())) {
            Lock other = held == view.readLock() ? view.writeLock() : view.readLock();
            held.lock();
            assertThatThrownBy(other::unlock).isInstanceOf(IllegalMonitorStateException.class);
            held.unlock();
            assertThatThrownBy(held::unlock).isInstanceOf(IllegalMonitorStateException.class);
        }
    }

    @Test
    void conditions_areNotSupported() {
        assertThatThrownBy(view.readLock()::newCondition).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(view.writeLock()::newCondition).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    @Tag("H54")
    void downgradeWithTheFlagSet_worksByLock_andNotByLockInterruptibly() throws Exception {
        view.writeLock().lock();
        Thread.currentThread().interrupt();
        assertThatThrownBy(view.readLock()::lockInterruptibly).isInstanceOf(InterruptedException.class);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        Thread.currentThread().interrupt();
        view.readLock().lock();
        assertThat(Thread.interrupted()).isTrue();
        view.writeLock().unlock();
        view.readLock().unlock();
        awaitNodes(0);
    }
}
