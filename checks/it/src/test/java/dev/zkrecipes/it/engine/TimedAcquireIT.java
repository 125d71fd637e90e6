// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.MultiLease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.handoff.HandoffMutex;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import dev.zkrecipes.test.internal.TimedTry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What a timed acquire of every kind says at its end: that the lock is busy, or that nobody knows. */
@Execution(ExecutionMode.CONCURRENT)
class TimedAcquireIT extends ServerStage {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration WAIT = Duration.ofSeconds(1);

    /** A lock of every kind. */
    private static Map<String, InterProcessLock> locks(ZooKeeperClient client, ZooKeeperClient other, String path) {
        Map<String, InterProcessLock> locks = new LinkedHashMap<>();
        locks.put("mutex", new InterProcessMutex(client, path + "/mutex"));
        locks.put("reader", new InterProcessReadWriteLock(client, path + "/rw").readLock());
        locks.put("permits", new InterProcessSemaphore(client, path + "/permits", 1).permits(1));
        locks.put("local", new HandoffMutex(client, path + "/local", 8));
        locks.put(
                "multi",
                new InterProcessMultiLock(List.of(
                        new InterProcessMutex(client, path + "/a"), new InterProcessMutex(client, path + "/b"))));
        locks.put(
                "mixed",
                new InterProcessMultiLock(List.of(
                        new InterProcessMutex(client, path + "/c"), new InterProcessMutex(other, path + "/d"))));
        return locks;
    }

    private static void assertUnknown(String kind, InterProcessLock lock, String words) {
        assertThatThrownBy(() -> lock.tryAcquire(WAIT))
                .as(kind)
                .isInstanceOf(LockConnectionException.class)
                .hasMessageContaining("not connected to ZooKeeper")
                .hasMessageContaining("not known whether")
                .hasMessageContaining(words);
    }

    private static int closedPort() throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return free.getLocalPort();
        }
    }

    @Test
    @Tag("H105")
    void wrongPort_failsWithItsCause_andIsNotBusy() throws Exception {
        ZooKeeperClient client = opened(ZooKeeperClient.builder()
                .connectString("127.0.0.1:" + closedPort())
                .requestTimeout(Duration.ofMillis(300))
                .build());
        locks(client, client, "/wrong-port").forEach((kind, lock) -> assertUnknown(kind, lock, lock.path()));
        Soon.await()
                .untilAsserted(() -> assertThatThrownBy(
                                () -> new InterProcessMutex(client, "/x").tryAcquire(Duration.ofMillis(100)))
                        .isInstanceOf(LockConnectionException.class)
                        .hasMessageContaining("refuses connections")
                        .hasCauseInstanceOf(java.net.ConnectException.class));
    }

    @Test
    @Tag("H105")
    void busyLock_givesEmpty() throws Exception {
        ZooKeeperClient holding = client(LONG);
        ZooKeeperClient asking = client(LONG);
        Map<String, InterProcessLock> theirs = locks(holding, holding, "/busy");
        theirs.put("reader", new InterProcessReadWriteLock(holding, "/busy/rw").writeLock());
        for (InterProcessLock lock : theirs.values()) {
            lock.acquire();
        }
        for (Map.Entry<String, InterProcessLock> each :
                locks(asking, holding, "/busy").entrySet()) {
            if (!each.getKey().equals("mixed")) { // of which this thread holds a part
                assertThat(TimedTry.on(each.getValue())).as(each.getKey()).isEmpty();
            }
        }
        InterProcessLock local = new HandoffMutex(holding, "/busy/own", 8);
        Lease held = local.acquireAsync().get();
        assertThat(TimedTry.on(local)).as("behind one of this client").isEmpty();
        held.close();
    }

    @Test
    @Tag("H105")
    void serverLostMidway_failsTheAcquire() throws Exception {
        FaultProxy proxy = proxy();
        ZooKeeperClient holding = client(LONG);
        ZooKeeperClient asking = opened(TestClients.connect(proxy.connectString(), LONG));
        for (String kind : List.of("mutex", "permits", "local", "multi")) {
            Lease held = locks(holding, holding, "/half-way")
                    .get(kind)
                    .acquireAsync()
                    .get();
            InterProcessLock lock = locks(asking, asking, "/half-way").get(kind);
            Throwable told = null;
            boolean cutInTime = false;
            while (told == null && !cutInTime) { // a cut that comes after the end proves nothing
                AtomicBoolean isOver = new AtomicBoolean();
                CompletableFuture<Void> cut = CompletableFuture.runAsync(
                        () -> {
                            Soon.await()
                                    .until(() -> isOver.get()
                                            || lock.participants().size()
                                                    > MultiLease.tokensOf(held).size());
                            proxy.refuse();
                            Soon.await().until(() -> asking.connectionState() != ConnectionState.CONNECTED);
                        },
                        task -> new Thread(task, "cutter").start());
                told = catchThrowable(() -> lock.tryAcquire(Duration.ofSeconds(2)));
                cutInTime = cut.isDone();
                isOver.set(true);
                Soon.get(cut);
                proxy.accept();
                Soon.await().until(() -> asking.connectionState() == ConnectionState.CONNECTED);
            }
            assertThat(told)
                    .as(kind)
                    .isInstanceOf(LockConnectionException.class)
                    .hasMessageContaining("any more (the lock was busy when it was last seen)");
            held.close();
            lock.tryAcquire(Duration.ofSeconds(120)).orElseThrow().close();
        }
    }
}
