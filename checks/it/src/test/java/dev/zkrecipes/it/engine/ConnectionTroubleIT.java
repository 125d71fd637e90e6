// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What errors tell of a client that is not connected: what was found out. Both sides of TLS are in {@link MutexTlsIT}. */
class ConnectionTroubleIT extends ServerStage {
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
                .atMost(Duration.ofSeconds(120)) // on a slow machine it may look more than once
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
        ZooKeeperClient client = client("no-such-host.invalid:2181/app");
        assertThat(trouble(
                        client,
                        "never since the client was made: the host name of no-such-host.invalid:2181 is unknown:"
                                + " check its spelling and the name service"))
                .hasCauseInstanceOf(UnknownHostException.class);
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

    /** It names itself first, and its state behind that. */
    @Test
    @Tag("H144")
    void readOnlyServer_isNamed() throws Exception {
        try (ServerSocket alone = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Thread answering = new Thread(() -> answerAsReadOnly(alone), "read-only-server");
            answering.start();
            try (ZooKeeperClient client = client(local(alone.getLocalPort()))) {
                trouble(client, local(alone.getLocalPort()) + " is read-only: it has lost its ensemble");
            } finally {
                alone.close();
                answering.join();
            }
        }
    }

    /** Gives the second line if the client is still there, and not gone after the first. */
    private static void answerAsReadOnly(ServerSocket alone) {
        while (!alone.isClosed()) {
            try (Socket asked = alone.accept()) {
                asked.setSoTimeout(100);
                asked.getInputStream().readNBytes(4);
                OutputStream answer = asked.getOutputStream();
                answer.write(
                        "Zookeeper version: 3.9.5-0123, built on 2026-01-01\n".getBytes(StandardCharsets.US_ASCII));
                if (isOpen(asked)) {
                    answer.write(
                            "READ-ONLY mode; serving only read-only clients\n".getBytes(StandardCharsets.US_ASCII));
                }
            } catch (IOException e) {
                // The client has gone, or the test is over.
            }
        }
    }

    private static boolean isOpen(Socket asked) throws IOException {
        try {
            return asked.getInputStream().read() >= 0;
        } catch (SocketTimeoutException e) {
            return true;
        }
    }

    /** Over the limit, a server accepts each connection and closes it: with a reset, if it has not read all by then. */
    @Test
    @Tag("H111")
    void limitOfConnections_isNamed(@TempDir File data) throws Exception {
        ZooKeeperServer limited = new ZooKeeperServer(data, data, 2000);
        ServerCnxnFactory connections =
                ServerCnxnFactory.createFactory(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1);
        connections.startup(limited);
        String servers = local(connections.getLocalPort());
        try (ZooKeeperClient first = client(servers)) {
            assertThat(first.awaitConnected(Duration.ofSeconds(120))).isTrue();
            try (ZooKeeperClient second = client(servers)) {
                Throwable trouble = trouble(
                        second,
                        "s each connection at once: if it is a proxy, a tunnel or a forwarded port, check"
                                + " that the server behind it runs; if it is the server itself, probably it has as many"
                                + " connections of this machine as it allows (maxClientCnxns, 60 unless set), or in all"
                                + " (maxCnxns)");
                assertThat(trouble).hasMessageContaining(servers);
                first.close();
                Soon.await().until(() -> second.connectionState() == ConnectionState.CONNECTED);
            }
        } finally {
            connections.shutdown();
        }
    }

    @ParameterizedTest
    @CsvSource({"false,closes", "true,resets"})
    @Tag("H111")
    void serverThatClosesAtOnce_isToldFromASilentOne(boolean reset, String verb) throws Exception {
        try (ClosingServer closing = new ClosingServer(reset);
                ZooKeeperClient client = client(local(closing.port()))) {
            trouble(client, local(closing.port()) + " " + verb + " each connection at once: if it is a proxy");
        }
    }

    @Test
    @Tag("H111")
    void serverThatClosesInTheHandshake_mayBeOverItsLimit() throws Exception {
        ZKClientConfig tls = new ZKClientConfig();
        tls.setProperty(ZKClientConfig.SECURE_CLIENT, "true");
        tls.setProperty(ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, "org.apache.zookeeper.ClientCnxnSocketNetty");
        try (ClosingServer closing = new ClosingServer(true);
                ZooKeeperClient client = ZooKeeperClient.builder()
                        .connectString(local(closing.port()))
                        .clientConfig(tls)
                        .requestTimeout(Duration.ofMillis(300))
                        .build()) {
            trouble(client, "maxClientCnxns");
        }
    }

    /** Accepts each connection and ends it. */
    private static final class ClosingServer implements AutoCloseable {
        private final ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        private final Thread thread;

        ClosingServer(boolean reset) throws IOException {
            thread = new Thread(() -> run(reset), "closing-server");
            thread.start();
        }

        private void run(boolean reset) {
            while (!socket.isClosed()) {
                try (Socket accepted = socket.accept()) {
                    if (reset) {
                        accepted.setSoLinger(true, 0);
                    } else {
                        accepted.getInputStream().readNBytes(4); // what is not read is answered by a reset
                    }
                } catch (IOException e) {
                    // The client has gone, or the test is over.
                }
            }
        }

        int port() {
            return socket.getLocalPort();
        }

        @Override
        public void close() throws Exception {
            socket.close();
            thread.join();
        }
    }

    @Test
    @Tag("H106")
    void lostConnection_isExplained_untilItIsBack() throws Exception {
        FaultProxy proxy = proxy();
        ZooKeeperClient client = client(settings(proxy.connectString()).requestTimeout(Duration.ofMillis(300)));
        proxy.refuse();
        trouble(client, "since the connection was lost: ");
        assertThat(client.connectionTrouble())
                .get()
                .satisfies(why -> assertThat(why)
                        .hasMessageStartingWith(proxy.connectString())
                        .hasMessageNotContaining("since the connection was lost"));
        proxy.accept();
        InterProcessMutex mutex = new InterProcessMutex(client, "/trouble-over");
        Soon.await()
                .ignoreExceptions()
                .untilAsserted(() -> mutex.tryAcquire().orElseThrow().close());
        assertThat(client.connectionTrouble()).isEmpty();
    }
}
