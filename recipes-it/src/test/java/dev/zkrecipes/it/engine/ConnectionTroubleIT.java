// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.sun.net.httpserver.HttpServer;
import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.Soon;
import dev.zkrecipes.test.WithZooKeeper;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What errors tell of a client that is not connected: what was found out. Both sides of TLS are in {@link MutexTlsIT}. */
@Timeout(120)
@WithZooKeeper(tickTimeMillis = 100)
class ConnectionTroubleIT {
    /** For so long after a connection was lost no client looks for the reason. */
    private static final Duration FIRST_LOOK = Duration.ofSeconds(3);

    private final EmbeddedZooKeeper server;

    ConnectionTroubleIT(EmbeddedZooKeeper server) {
        this.server = server;
    }

    private static ZooKeeperClient client(String connectString) {
        return ZooKeeperClient.builder()
                .connectString(connectString)
                .requestTimeout(Duration.ofMillis(300))
                .build();
    }

    private static Throwable trouble(ZooKeeperClient client, String words) {
        InterProcessMutex mutex = new InterProcessMutex(client, "/trouble");
        Throwable[] last = new Throwable[1];
        Soon.await()
                .atMost(Duration.ofSeconds(60)) // on a slow machine it may look more than once
                .untilAsserted(() -> assertThatThrownBy(mutex::tryAcquire)
                        .isInstanceOf(LockConnectionException.class)
                        .hasMessageStartingWith("not connected to ZooKeeper (")
                        .hasMessageContaining(words)
                        .hasMessageContaining("org.apache.zookeeper.ClientCnxn")
                        .satisfies(error -> last[0] = error));
        return last[0];
    }

    private static String local(int port) {
        return "127.0.0.1:" + port;
    }

    @Test
    @Tag("H106")
    void unknownHost_isNamed() {
        try (ZooKeeperClient client = client("no-such-host.invalid:2181/app")) {
            assertThat(trouble(
                            client,
                            "never since the client was made: the host name of no-such-host.invalid:2181 is unknown:"
                                    + " check its spelling and the name service"))
                    .hasCauseInstanceOf(UnknownHostException.class);
        }
    }

    @Test
    @Tag("H106")
    void closedPort_isNamed() throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        try (ZooKeeperClient client = client(local(port))) {
            assertThat(trouble(
                            client,
                            local(port) + " refuses connections, so nothing listens there: check the port, and that the"
                                    + " server runs"))
                    .hasCauseInstanceOf(ConnectException.class);
        }
    }

    @Test
    @Tag("H106")
    void httpServer_isNamed() throws IOException {
        HttpServer http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
        ExecutorService threads = Executors.newCachedThreadPool();
        http.setExecutor(threads);
        http.start();
        try (ZooKeeperClient client = client(local(http.getAddress().getPort()))) {
            assertThat(trouble(client, "is not a ZooKeeper server: it answers \"HTTP/1.1 400 Bad Request"))
                    .hasNoCause();
        } finally {
            http.stop(0);
            threads.shutdownNow();
        }
    }

    @Test
    @Tag("H106")
    void silentServer_isNamed() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                ZooKeeperClient client = client(local(silent.getLocalPort()))) {
            trouble(client, local(silent.getLocalPort()) + " accepts connections but does not answer");
        }
    }

    @Test
    @Tag("H106")
    void lostConnection_isExplained_untilItIsBack() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server);
                ZooKeeperClient client = client(proxy.connectString())) {
            assertThat(client.awaitConnected(Duration.ofSeconds(20))).isTrue();
            proxy.refuse();
            trouble(client, "since the connection was lost: ");
            proxy.accept();
            InterProcessMutex mutex = new InterProcessMutex(client, "/trouble-over");
            Soon.await()
                    .ignoreExceptions()
                    .untilAsserted(() -> mutex.tryAcquire().orElseThrow().close());
        }
    }

    @Test
    @Tag("H106")
    void explanation_isForgottenOnReconnection() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server);
                ZooKeeperClient client = ZooKeeperClient.builder()
                        .connectString(proxy.connectString())
                        .requestTimeout(Duration.ofSeconds(60))
                        .build()) {
            assertThat(client.awaitConnected(Duration.ofSeconds(20))).isTrue();
            proxy.refuse();
            trouble(client, "since the connection was lost: ");
            Duration took = FIRST_LOOK;
            Throwable told = null;
            for (int tries = 0; tries < 5 && took.compareTo(FIRST_LOOK) >= 0; tries++) {
                proxy.accept();
                Soon.await().until(() -> client.connectionState() == ConnectionState.CONNECTED);
                long start = System.nanoTime();
                proxy.refuse();
                Soon.await().until(() -> client.connectionState() != ConnectionState.CONNECTED);
                told = catchThrowable(new InterProcessMutex(client, "/trouble")::tryAcquire);
                took = Duration.ofNanos(System.nanoTime() - start);
            }
            assertThat(told)
                    .isInstanceOf(LockConnectionException.class)
                    .hasMessageStartingWith("not connected to ZooKeeper, ");
        }
    }

    @Test
    @Tag("H106")
    void noReason_isGivenBeforeItIsKnown() {
        try (ZooKeeperClient client = ZooKeeperClient.builder()
                .connectString("no-such-host.invalid:2181")
                .requestTimeout(Duration.ofSeconds(60)) // the first look comes after three quarters of a second
                .build()) {
            assertThatThrownBy(() -> new InterProcessMutex(client, "/early").tryAcquire())
                    .isInstanceOf(LockConnectionException.class)
                    .hasMessageStartingWith("not connected to ZooKeeper")
                    .hasMessageNotContaining("TLS");
        }
    }
}
