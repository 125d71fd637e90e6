// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.rwlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.Fault;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.Held;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The downgrade when the connection, the session, the node or the time-out ends in the middle of it. */
class DowngradeFaultsIT extends ServerStage {
    private static final Duration SOON = Duration.ofSeconds(120);
    private FaultProxy proxy;
    private ZooKeeperClient client;
    private ZooKeeperClient other;
    private InterProcessReadWriteLock lock;
    private InterProcessReadWriteLock rival;

    @BeforeEach
    void connect() throws InterruptedException {
        proxy = proxy();
        client = client(proxy);
        other = client();
        lock = new InterProcessReadWriteLock(client, path);
        rival = new InterProcessReadWriteLock(other, path);
    }

    private long nodes(String kind) {
        return numbers(kind).size();
    }

    private List<String> numbers(String kind) {
        return server.children(path).stream()
                .filter(name -> name.contains(kind))
                .map(name -> name.substring(name.indexOf(kind) + kind.length()))
                .toList();
    }

    private static boolean isWaiting(Thread thread) {
        Thread.State state = thread.getState();
        return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
    }

    /** The write lock is held and waited for. */
    private CompletableFuture<Lease> queuedWriter() {
        int before = server.children(path).size();
        CompletableFuture<Lease> writer = rival.writeLock().acquireAsync();
        awaitNodes(before + 1);
        return writer;
    }

    /** What is expected after a downgrade, whatever happened on the way: one reader, at the writer's place. */
    private void assertDowngraded(Lease writing, Lease reading, CompletableFuture<Lease> queued) throws Exception {
        assertThat(numbers("__READ__")).hasSize(1).isSubsetOf(numbers("__WRIT__"));
        assertThat(reading.fencingToken()).isEqualTo(writing.fencingToken());
        writing.close();
        reading.verify();
        assertThat(queued).isNotDone();
        reading.close();
        Soon.get(queued).close();
        awaitNodes(0);
    }

    /** What is expected after a downgrade that did not happen: the write hold, as if nothing had happened. */
    private void assertStillWriting(Lease writing, CompletableFuture<Lease> queued) throws Exception {
        Soon.await().until(() -> nodes("__READ__") == 0 && writing.isValid());
        assertThat(lock.readLock().holdCount()).isZero();
        assertThat(queued).isNotDone();
        lock.readLock().acquire().close();
        writing.close();
        Soon.get(queued).close();
        awaitNodes(0);
    }

    @Test
    @Tag("H04")
    void replyLostTwice_stillMakesOneReader_atTheSamePlace() throws Exception {
        Lease writing = lock.writeLock().acquire();
        CompletableFuture<Lease> queued = queuedWriter();
        Fault first = proxy.dropReply(RequestType.MULTI, 1);
        Fault second = proxy.dropReply(RequestType.MULTI, 2);
        Lease reading = lock.readLock().acquire();
        assertThat(first.hasFired()).isTrue();
        assertThat(second.hasFired()).isTrue();
        assertDowngraded(writing, reading, queued);
    }

    @Test
    @Tag("H52")
    void interruptWithoutAConnection_leavesNothing_andKeepsTheWriteHold() throws Exception {
        AtomicReference<Lease> mine = new AtomicReference<>();
        Workers workers = opened(new Workers());
        Thread writer = workers.start("writer", () -> {
            Lease writing = lock.writeLock().acquire();
            CompletableFuture<Lease> queued = queuedWriter();
            proxy.refuse();
            mine.set(writing);
            assertThatThrownBy(lock.readLock()::acquire).isInstanceOf(InterruptedException.class);
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            proxy.accept();
            assertStillWriting(writing, queued);
        });
        Soon.await().until(() -> mine.get() != null && isWaiting(writer));
        writer.interrupt();
        workers.join(Duration.ofSeconds(120));
    }

    @Test
    @Tag("H03")
    void sessionEndDuringADowngrade_makesNoReader_andLosesTheHold() throws Exception {
        Lease writing = lock.writeLock().acquire();
        CompletableFuture<Lease> queued = queuedWriter();
        Held request = proxy.holdRequest(RequestType.MULTI, 1);
        Thread waiting = Thread.currentThread();
        try (Workers workers = new Workers()) {
            workers.start("expirer", () -> {
                request.awaitReached(SOON);
                Soon.await().until(() -> isWaiting(waiting));
                expire(client);
                request.release();
            });
            assertThatThrownBy(lock.readLock()::acquire)
                    .isInstanceOf(LockLostException.class)
                    .hasMessageContaining(path);
            workers.join(SOON);
        }
        Lease next = Soon.get(queued);
        assertThat(writing.state()).isEqualTo(LeaseState.LOST);
        assertThat(nodes("__READ__")).isZero();
        assertThatThrownBy(lock.readLock()::acquire).isInstanceOf(LockLostException.class);
        writing.close();
        assertThat(client.awaitConnected(SOON)).isTrue();
        assertThat(lock.readLock().tryAcquire()).isEmpty();
        next.close();
        lock.readLock().acquire().close();
    }

    @Test
    @Tag("H11")
    void deletedReadNode_losesOnlyTheReadHold() throws Exception {
        Lease writing = lock.writeLock().acquire();
        Lease reading = lock.readLock().acquire();
        server.children(path).stream()
                .filter(name -> name.contains("__READ__"))
                .forEach(name -> server.deleteNode(path + "/" + name));
        assertThatThrownBy(reading::verify).isInstanceOf(LockLostException.class);
        writing.verify();
        assertThatThrownBy(lock.readLock()::acquire).isInstanceOf(LockLostException.class);
        lock.writeLock().acquire().close();
        reading.close();
        lock.readLock().acquire().close();
        writing.close();
        awaitNodes(0);
    }
}
