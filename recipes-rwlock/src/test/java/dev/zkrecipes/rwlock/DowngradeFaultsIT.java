// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.rwlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.Fault;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.Held;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/** The downgrade when the connection, the session, the node or the time-out ends in the middle of it. */
@Timeout(600)
@WithZooKeeper(tickTimeMillis = 100)
class DowngradeFaultsIT {
    private static final Duration SOON = Duration.ofSeconds(20);

    private final EmbeddedZooKeeper server;
    private final String path;
    private FaultProxy proxy;
    private ZooKeeperClient client;
    private ZooKeeperClient other;
    private InterProcessReadWriteLock lock;
    private InterProcessReadWriteLock rival;

    DowngradeFaultsIT(EmbeddedZooKeeper server, TestInfo test) {
        this.server = server;
        this.path = "/downgrades/" + test.getTestMethod().orElseThrow().getName();
    }

    @BeforeEach
    void connect() throws InterruptedException {
        proxy = FaultProxy.to(server);
        client = connected(proxy.connectString());
        other = connected(server.connectString());
        lock = new InterProcessReadWriteLock(client, path);
        rival = new InterProcessReadWriteLock(other, path);
    }

    /** With a session so long that the checks of what is held, which are multis too, do not come in between. */
    private static ZooKeeperClient connected(String connectString) throws InterruptedException {
        return TestClients.connect(connectString);
    }

    @AfterEach
    void close() {
        client.close();
        other.close();
        proxy.close();
    }

    private void awaitNodes(int count) {
        Soon.await().until(() -> server.children(path).size() == count);
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

    /** How many holders have entered or left, seen or not. */
    private int changesOfTheQueue() throws InterruptedException, KeeperException {
        return other.zooKeeper().orElseThrow().exists(path, false).getCversion();
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
    @Tag("H04")
    void lostRequest_isSentAgain() throws Exception {
        Lease writing = lock.writeLock().acquire();
        CompletableFuture<Lease> queued = queuedWriter();
        Fault lost = proxy.dropRequest(RequestType.MULTI, 1);
        Lease reading = lock.readLock().tryAcquire(SOON).orElseThrow();
        assertThat(lost.hasFired()).isTrue();
        assertDowngraded(writing, reading, queued);
    }

    @Test
    @Tag("H04")
    void reconnectionInTime_isWaitedFor() throws Exception {
        Lease writing = lock.writeLock().acquire();
        CompletableFuture<Lease> queued = queuedWriter();
        proxy.refuse();
        Lease reading;
        Thread waiting = Thread.currentThread();
        try (Workers workers = new Workers()) {
            workers.start("restorer", () -> {
                Soon.await().until(() -> isWaiting(waiting));
                proxy.accept();
            });
            reading = lock.readLock().acquire();
            workers.join(SOON);
        }
        assertDowngraded(writing, reading, queued);
    }

    @Test
    void timeoutWithoutAConnection_sendsNothingLater_andKeepsTheWriteHold() throws Exception {
        Lease writing = lock.writeLock().acquire();
        CompletableFuture<Lease> queued = queuedWriter();
        proxy.refuse();
        assertThatThrownBy(() -> lock.readLock().tryAcquire(Duration.ofMillis(100)))
                .isInstanceOf(LockConnectionException.class);
        int before = changesOfTheQueue();
        proxy.accept();
        Soon.await()
                .ignoreExceptionsInstanceOf(LockConnectionException.class) // it may take more than one connection
                .untilAsserted(writing::verify);
        assertThat(changesOfTheQueue()).isEqualTo(before);
        assertStillWriting(writing, queued);
    }

    @Test
    void timeoutBeforeTheReply_leavesNothing_andKeepsTheWriteHold() throws Exception {
        Lease writing = lock.writeLock().acquire();
        CompletableFuture<Lease> queued = queuedWriter();
        Held reply = proxy.holdReply(RequestType.MULTI, 1);
        assertThatThrownBy(() -> lock.readLock().tryAcquire(Duration.ofSeconds(1)))
                .isInstanceOf(LockConnectionException.class);
        reply.awaitReached(SOON);
        assertThat(nodes("__READ__")).isEqualTo(1); // made, and nobody knows
        reply.release();
        assertStillWriting(writing, queued);
    }

    @Test
    void timeoutWithALostReply_leavesNothing_andKeepsTheWriteHold() throws Exception {
        Lease writing = lock.writeLock().acquire();
        CompletableFuture<Lease> queued = queuedWriter();
        Held reply = proxy.holdReply(RequestType.MULTI, 1);
        assertThatThrownBy(() -> lock.readLock().tryAcquire(Duration.ofSeconds(1)))
                .isInstanceOf(LockConnectionException.class);
        reply.awaitReached(SOON);
        proxy.cut();
        assertStillWriting(writing, queued);
    }

    @Test
    @Tag("H52")
    void interruptWithoutAConnection_leavesNothing_andKeepsTheWriteHold() throws Exception {
        AtomicReference<Lease> mine = new AtomicReference<>();
        try (Workers workers = new Workers()) {
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
            workers.join(Duration.ofSeconds(20));
        }
    }

    @Test
    void tryWithoutAConnection_failsAtOnce_andKeepsTheWriteHold() throws Exception {
        Lease writing = lock.writeLock().acquire();
        CompletableFuture<Lease> queued = queuedWriter();
        proxy.refuse();
        Soon.await().until(() -> !writing.isValid());
        assertThatThrownBy(lock.readLock()::tryAcquire)
                .isInstanceOf(LockConnectionException.class)
                .hasMessageContaining("not connected to ZooKeeper, so the lock " + path);
        proxy.accept();
        assertStillWriting(writing, queued);
    }

    @Test
    void tryWithALostReply_fails_andKeepsTheWriteHold() throws Exception {
        Lease writing = lock.writeLock().acquire();
        CompletableFuture<Lease> queued = queuedWriter();
        var unused = proxy.dropReply(RequestType.MULTI, 1);
        assertThatThrownBy(lock.readLock()::tryAcquire)
                .isInstanceOf(LockConnectionException.class)
                .hasMessageContaining(path);
        assertStillWriting(writing, queued);
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
                server.expireSession(client.zooKeeper().orElseThrow().getSessionId());
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
    @Tag("H03")
    void deletedWriteNode_makesNoReader_andLosesTheHold() throws Exception {
        Lease writing = lock.writeLock().acquire();
        String node = server.children(path).get(0);
        CompletableFuture<Lease> queued = queuedWriter();
        server.deleteNode(path + "/" + node);
        Lease next = Soon.get(queued);
        assertThatThrownBy(lock.readLock()::acquire)
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining(node);
        assertThat(writing.state()).isEqualTo(LeaseState.LOST);
        awaitNodes(1);
        next.verify();
        writing.close();
        next.close();
        lock.readLock().acquire().close();
    }

    @Test
    @Tag("H03")
    void writeNodeGoneAfterALostReply_leavesNoReader() throws Exception {
        Lease writing = lock.writeLock().acquire();
        String node = server.children(path).get(0);
        CompletableFuture<Lease> queued = queuedWriter();
        Held reply = proxy.holdReply(RequestType.MULTI, 1);
        try (Workers workers = new Workers()) {
            workers.start("operator", () -> {
                reply.awaitReached(SOON);
                server.deleteNode(path + "/" + node);
                proxy.cut();
            });
            assertThatThrownBy(lock.readLock()::acquire).isInstanceOf(LockLostException.class);
            workers.join(SOON);
        }
        Soon.get(queued).close();
        writing.close();
        awaitNodes(0);
    }

    @Test
    @Tag("H20")
    void closingTheClient_endsTheWait() throws Exception {
        Lease writing = lock.writeLock().acquire();
        proxy.refuse();
        Thread waiting = Thread.currentThread();
        try (Workers workers = new Workers()) {
            workers.start("closer", () -> {
                Soon.await().until(() -> isWaiting(waiting));
                client.close();
            });
            assertThatThrownBy(lock.readLock()::acquire).isInstanceOf(ClientClosedException.class);
            workers.join(SOON);
        }
        assertThat(writing.isValid()).isFalse();
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
