// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.handoff.HandoffMutex;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a timed acquire of every kind says at its end if there is no server to tell whether the lock is busy. */
class TimedAcquireIT extends ServerStage {
    private static final Duration WAIT = Duration.ofSeconds(1);

    /** A lock of every kind. */
    private static Map<String, InterProcessLock> locks(ZooKeeperClient client, String path) {
        Map<String, InterProcessLock> locks = new LinkedHashMap<>();
        locks.put("mutex", new InterProcessMutex(client, path + "/mutex"));
        locks.put("reader", new InterProcessReadWriteLock(client, path + "/rw").readLock());
        locks.put("permits", new InterProcessSemaphore(client, path + "/permits", 1).permits(1));
        locks.put("local", new HandoffMutex(client, path + "/local", 8));
        locks.put(
                "multi",
                new InterProcessMultiLock(List.of(
                        new InterProcessMutex(client, path + "/a"), new InterProcessMutex(client, path + "/b"))));
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
        locks(client, "/wrong-port").forEach((kind, lock) -> assertUnknown(kind, lock, lock.path()));
        Soon.await()
                .untilAsserted(() -> assertThatThrownBy(
                                () -> new InterProcessMutex(client, "/x").tryAcquire(Duration.ofMillis(100)))
                        .isInstanceOf(LockConnectionException.class)
                        .hasMessageContaining("refuses connections")
                        .hasCauseInstanceOf(java.net.ConnectException.class));
    }
}
