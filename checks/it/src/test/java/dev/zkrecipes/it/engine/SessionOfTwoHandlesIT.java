// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.Held;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import dev.zkrecipes.test.internal.Workers;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Somebody opens a second handle with the id and the password of a client's session, as one does to end it. The server
 * then closes the client's connection, and the client comes back after one to two seconds. Whether it finds its session
 * depends on whether the second handle's request to close it arrived before.
 */
class SessionOfTwoHandlesIT extends ServerStage {
    private static final Duration LIMIT = Duration.ofSeconds(120);
    /** Does not expire while a test runs. */
    private static final Duration LASTING = Duration.ofSeconds(60);

    @Test
    @Tag("H58")
    void sessionClosedByASecondHandle_isLostAsSoonAsTheClientIsBack_andNotValidBefore() throws Exception {
        FaultProxy proxy = proxy();
        ZooKeeperClient client = opened(TestClients.connect(proxy.connectString(), LASTING));
        ZooKeeperClient rival = client(LASTING);
        String path = "/second-handle-closes";
        Lease lease = Soon.get(new InterProcessMutex(client, path).acquireAsync());
        CompletableFuture<Lease> next = new InterProcessMutex(rival, path).acquireAsync();
        ZooKeeper handle = client.zooKeeper().orElseThrow();
        long session = handle.getSessionId();

        // Only connections by way of the proxy are refused: the client must not come back too soon.
        CompletableFuture<Void> suspended = told(client, ConnectionState.SUSPENDED);
        proxy.refuse();
        Soon.get(suspended);
        assertThat(lease.isValid()).isFalse();
        try (ZooKeeper second = second(server.connectString(), handle)) {
            assertThat(second.exists("/", false)).isNotNull(); // it has the session
        }
        assertThat(server.sessions()).doesNotContain(session);
        Lease granted = Soon.get(next);
        assertThat(lease.isValid()).isFalse();
        assertThat(lease.ended()).isNotDone();

        proxy.accept();
        assertThat(Soon.get(lease.ended())).isEqualTo(LeaseState.LOST);
        granted.close();
    }

    @Test
    @Tag("H58")
    void sessionTakenBackBeforeASecondHandleHasClosedIt_stands_andSoDoItsLeases() throws Exception {
        FaultProxy proxy = proxy();
        FaultProxy wayBack = proxy();
        Workers workers = opened(new Workers());
        ZooKeeperClient client = opened(TestClients.connect(wayBack.connectString(), LASTING));
        InterProcessMutex mutex = new InterProcessMutex(client, "/second-handle-is-late");
        Lease lease = Soon.get(mutex.acquireAsync());
        CompletableFuture<Lease> next = mutex.acquireAsync();
        ZooKeeper handle = client.zooKeeper().orElseThrow();
        long session = handle.getSessionId();

        CompletableFuture<Void> suspended = told(client, ConnectionState.SUSPENDED);
        CompletableFuture<Void> back = told(client, ConnectionState.CONNECTED);
        Held closing = proxy.holdRequest(RequestType.CLOSE_SESSION, 1);
        Held comingBack = wayBack.holdRequest(RequestType.RESUME_SESSION, 1);
        ZooKeeper second = second(proxy.connectString(), handle);
        assertThat(second.exists("/", false)).isNotNull();
        Soon.get(suspended);
        workers.start("closes the second handle", second::close);
        closing.awaitReached(LIMIT);
        comingBack.release();
        // The client takes its session back, and the server closes the connection of the second handle, which gives
        // up: close() returns as if it had ended the session.
        Soon.get(back);
        workers.join(LIMIT);

        assertThat(server.sessions()).contains(session);
        lease.verify();
        Soon.await().until(() -> lease.state() == LeaseState.HELD);
        assertThat(lease.ended()).isNotDone();
        assertThat(next).isNotDone();
        lease.close();
        Soon.get(next).close();
        assertThat(client.zooKeeper()).containsSame(handle);
    }

    private static CompletableFuture<Void> told(ZooKeeperClient client, ConnectionState awaited) {
        CompletableFuture<Void> told = new CompletableFuture<>();
        client.addConnectionListener(state -> {
            if (state == awaited) {
                told.complete(null);
            }
        });
        return told;
    }

    private static ZooKeeper second(String connectString, ZooKeeper first) throws IOException {
        return new ZooKeeper(
                connectString,
                Math.toIntExact(LASTING.toMillis()),
                event -> {},
                first.getSessionId(),
                first.getSessionPasswd());
    }
}
