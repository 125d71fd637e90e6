// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import static dev.zkrecipes.test.Client.get;
import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.test.internal.LeakCheck;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Streams and connections: what the proxy does to all packets. */
@WithZooKeeper
class FaultProxyIT {
    private static final Duration LIMIT = Client.LIMIT;
    /** How long nothing must happen before we believe that it does not. */
    private static final long QUIET_MILLIS = 200;

    private final EmbeddedZooKeeper server;
    private final FaultProxy proxy;
    private Client client;

    FaultProxyIT(EmbeddedZooKeeper server) {
        this.server = server;
        this.proxy = FaultProxy.to(server);
        this.client = Client.connect(proxy.connectString());
    }

    @BeforeEach
    void connected() {
        assertThat(proxy.connections()).isEqualTo(1);
    }

    @AfterEach
    void close() {
        proxy.resume();
        client.close();
        proxy.close();
    }

    @Test
    void withoutFaults_everythingPassesAndIsCounted() throws KeeperException, InterruptedException {
        RequestCounts before = proxy.requestsSeen();
        byte[] large = new byte[900_000];
        Arrays.fill(large, (byte) 7);
        client.zk().create("/large", large, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        assertThat(client.zk().getData("/large", false, null)).isEqualTo(large);
        client.zk().delete("/large", -1);
        RequestCounts cost = proxy.requestsSeen().minus(before);
        assertThat(cost.of(RequestType.CREATE)).isEqualTo(1);
        assertThat(cost.of(RequestType.GET_DATA)).isEqualTo(1);
        assertThat(cost.total()).isEqualTo(3);
        assertThat(before.of(RequestType.CREATE_SESSION)).isEqualTo(1);
    }

    @Test
    void pause_holdsBothDirectionsAndLosesNothing() throws KeeperException, InterruptedException {
        CompletableFuture<EventType> event = client.watch("/pause-event");
        for (int round = 0; round < 2; round++) {
            String path = "/pause-" + round;
            proxy.pause();
            CompletableFuture<Code> created = client.createAsync(path);
            if (round == 0) {
                server.createNode("/pause-event", new byte[0]);
            }
            assertNotDone(created);
            assertThat(server.nodeExists(path)).isFalse();
            assertThat(event.isDone()).isEqualTo(round > 0);
            proxy.resume();
            assertThat(get(created)).isEqualTo(Code.OK);
            assertThat(get(event)).isEqualTo(EventType.NodeCreated);
        }
        assertThat(client.states()).containsExactly(KeeperState.SyncConnected);
    }

    @Test
    void pauseRequests_letsEventsThrough() throws KeeperException, InterruptedException {
        CompletableFuture<EventType> event = client.watch("/pause-requests-event");
        proxy.pauseRequests();
        CompletableFuture<Code> created = client.createAsync("/pause-requests");
        server.createNode("/pause-requests-event", new byte[0]);
        assertThat(get(event)).isEqualTo(EventType.NodeCreated);
        assertNotDone(created);
        assertThat(server.nodeExists("/pause-requests")).isFalse();
        proxy.resume();
        assertThat(get(created)).isEqualTo(Code.OK);
    }

    @Test
    void pauseReplies_letsRequestsThrough() {
        proxy.pauseReplies();
        CompletableFuture<Code> created = client.createAsync("/pause-replies");
        await().atMost(LIMIT).until(() -> server.nodeExists("/pause-replies"));
        assertNotDone(created);
        proxy.resume();
        assertThat(get(created)).isEqualTo(Code.OK);
    }

    @Test
    void pause_hidesTheEndOfTheOtherSide() {
        proxy.pause();
        server.stop();
        assertNotDone(client.existsAsync("/pause-hides"));
        assertThat(client.states()).containsExactly(KeeperState.SyncConnected);
        assertThat(proxy.connections()).isEqualTo(1);
        server.restart();
        proxy.resume();
        client.awaitState(KeeperState.SyncConnected, 2);
        assertThat(get(client.existsAsync("/pause-hides"))).isEqualTo(Code.NONODE);
    }

    @Test
    void pausedConnections_acceptNewClientsSilently() throws InterruptedException, ExecutionException {
        proxy.pause();
        CompletableFuture<Client> second = CompletableFuture.supplyAsync(
                () -> Client.connect(proxy.connectString()), task -> new Thread(task).start());
        await().atMost(LIMIT).until(() -> proxy.connections() == 2);
        assertNotDone(second);
        proxy.resume();
        second.get().close();
    }

    @Test
    void cut_dropsConnectionsAndAcceptsNewOnes() {
        long session = client.session();
        for (int round = 1; round <= 2; round++) {
            proxy.cut();
            client.awaitState(KeeperState.Disconnected, round);
            client.awaitState(KeeperState.SyncConnected, round + 1);
        }
        assertThat(client.session()).isEqualTo(session);
        assertThat(proxy.connections()).isEqualTo(1);
        assertThat(proxy.requestsSeen().of(RequestType.RESUME_SESSION)).isEqualTo(2);
    }

    @Test
    void refuse_refusesUntilAccept() throws IOException {
        for (int round = 1; round <= 2; round++) {
            proxy.refuse();
            proxy.refuse();
            assertThat(proxy.connections()).isZero();
            try (Socket socket = new Socket()) {
                assertThatThrownBy(() ->
                                socket.connect(new InetSocketAddress(LoopbackPort.loopback(), proxy.port()), 2_000))
                        .isInstanceOf(ConnectException.class);
            }
            client.awaitState(KeeperState.Disconnected, round);
            proxy.accept();
            proxy.accept();
            client.awaitState(KeeperState.SyncConnected, round + 1);
        }
    }

    @Test
    void refuse_isInForceWhenItReturns() throws IOException {
        for (int round = 0; round < 200; round++) {
            proxy.accept();
            proxy.refuse();
            try (Socket socket = new Socket()) {
                assertThatThrownBy(() ->
                                socket.connect(new InetSocketAddress(LoopbackPort.loopback(), proxy.port()), 2_000))
                        .isInstanceOf(ConnectException.class);
            }
        }
        proxy.accept();
    }

    @Test
    void pause_hidesAReset() throws IOException {
        try (Socket socket = new Socket(LoopbackPort.loopback(), proxy.port())) {
            await().atMost(LIMIT).until(() -> proxy.connections() == 2);
            proxy.pause();
            // Closing without lingering resets the connection.
            socket.setSoLinger(true, 0);
        }
        await().during(Duration.ofMillis(QUIET_MILLIS)).atMost(LIMIT).until(() -> proxy.connections() == 2);
        proxy.resume();
        await().atMost(LIMIT).until(() -> proxy.connections() == 1);
    }

    @Test
    void latency_delaysPacketsWithoutSerialisingThem() {
        int pipelined = 50;
        proxy.latency(Duration.ofMillis(300));
        long start = System.nanoTime();
        List<CompletableFuture<Code>> replies = IntStream.range(0, pipelined)
                .mapToObj(i -> client.existsAsync("/latency"))
                .toList();
        for (CompletableFuture<Code> reply : replies) {
            assertThat(get(reply)).isEqualTo(Code.NONODE);
        }
        assertThat(millisSince(start)).isGreaterThanOrEqualTo(600);

        proxy.latency(Duration.ofHours(1));
        proxy.latency(Duration.ZERO);
        assertThat(get(client.existsAsync("/latency"))).isEqualTo(Code.NONODE);
        assertThatThrownBy(() -> proxy.latency(Duration.ofMillis(-1))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shorterLatency_appliesToPacketsInFlight() {
        boolean pinged = true;
        for (int round = 0; round < 5 && pinged; round++) { // a ping would wake a stream that sleeps
            proxy.latency(Duration.ofHours(1));
            CompletableFuture<Code> reply = client.existsAsync("/latency-under-way");
            assertNotDone(reply);
            long pings = proxy.requestsSeen().of(RequestType.PING);
            proxy.latency(Duration.ZERO);
            assertThat(get(reply)).isEqualTo(Code.NONODE);
            pinged = proxy.requestsSeen().of(RequestType.PING) > pings;
        }
        assertThat(pinged).isFalse();
    }

    @Test
    void serverBehindTheProxy_mayBeRestarted() throws KeeperException, InterruptedException {
        client.create("/behind", CreateMode.EPHEMERAL);
        server.stop();
        client.awaitState(KeeperState.Disconnected, 1);
        server.restart();
        client.awaitState(KeeperState.SyncConnected, 2);
        assertThat(client.zk().exists("/behind", false)).isNotNull();
        client.zk().delete("/behind", -1);
    }

    @Test
    void foreignProtocol_isHungUpOn() throws IOException {
        try (Socket socket = new Socket(LoopbackPort.loopback(), proxy.port())) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write(new byte[] {'r', 'u', 'o', 'k'});
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
        await().atMost(LIMIT).until(() -> proxy.connections() == 1);
    }

    @Test
    @Tag("alone")
    void close_endsConnectionsAndThreads() throws IOException {
        client.close();
        proxy.close();
        LeakCheck threads = LeakCheck.start().onlyNamed("fault-proxy-");
        FaultProxy other = FaultProxy.to(server);
        client = Client.connect(other.connectString());
        List<Socket> sockets = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            sockets.add(new Socket(LoopbackPort.loopback(), other.port()));
        }
        await().atMost(LIMIT).until(() -> threads.newThreads().size() > 4 * sockets.size());
        other.pause();
        other.close();
        other.close();
        assertThat(threads.newThreads()).isEmpty();
        for (Socket socket : sockets) {
            socket.close();
        }
        client.awaitState(KeeperState.Disconnected, 1);
        assertThatThrownBy(other::accept)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
    }

    @Test
    void targetsElsewhere_areRefused() {
        assertThatThrownBy(() -> FaultProxy.to("192.0.2.1", 2181))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("loopback");
    }

    private static long millisSince(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - nanos);
    }

    private static void assertNotDone(CompletableFuture<?> future) {
        assertThatThrownBy(() -> future.get(QUIET_MILLIS, TimeUnit.MILLISECONDS))
                .isInstanceOf(TimeoutException.class);
    }
}
