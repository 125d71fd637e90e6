// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import static dev.zkrecipes.test.internal.Soon.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.test.internal.LeakCheck;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedZooKeeperIT {
    private static final Duration LIMIT = Client.LIMIT;

    @Test
    void start_listensOnOneLoopbackAddressOnly() throws IOException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                Socket socket = new Socket();
                Socket other = new Socket()) {
            socket.connect(new InetSocketAddress(LoopbackPort.loopback(), server.port()), 2_000);
            InetAddress neighbour = InetAddress.getByAddress(new byte[] {127, 0, 0, 2});
            assertThatThrownBy(() -> other.connect(new InetSocketAddress(neighbour, server.port()), 2_000))
                    .isInstanceOf(IOException.class);
            assertThat(server.connectString()).isEqualTo("127.0.0.1:" + server.port());
        }
    }

    @Test
    void restart_keepsPortDataAndSessions() throws KeeperException, InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                Client client = Client.connect(server.connectString())) {
            int port = server.port();
            long session = client.session();
            client.create("/kept");
            client.create("/ephemeral", CreateMode.EPHEMERAL);

            server.restart();
            client.awaitState(KeeperState.SyncConnected, 2);

            assertThat(server.port()).isEqualTo(port);
            assertThat(server.nodeExists("/kept")).isTrue();
            assertThat(server.owner("/ephemeral")).hasValue(session);
            assertThat(client.session()).isEqualTo(session);
            assertThat(client.states())
                    .containsExactly(KeeperState.SyncConnected, KeeperState.Disconnected, KeeperState.SyncConnected);
            assertThat(server.requests().of(RequestType.RESUME_SESSION)).isGreaterThanOrEqualTo(1);
        }
    }

    @Test
    void stop_refusesConnectionsAndKeepsThePort() throws IOException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            InetSocketAddress address = new InetSocketAddress(LoopbackPort.loopback(), server.port());
            for (int round = 0; round < 3; round++) {
                server.stop();
                try (Socket client = new Socket();
                        ServerSocket thief = new ServerSocket()) {
                    assertThatThrownBy(() -> client.connect(address, 2_000)).isInstanceOf(ConnectException.class);
                    thief.setReuseAddress(false);
                    assertThatThrownBy(() -> thief.bind(address)).isInstanceOf(BindException.class);
                }
                server.restart();
                try (Client client = Client.connect(server.connectString())) {
                    assertThat(server.sessions()).contains(client.session());
                }
            }
        }
    }

    @Test
    void stoppedServer_saysSo() {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            server.stop();
            server.stop();

            assertThat(server.isRunning()).isFalse();
            assertThat(server.toString()).contains("stopped");
            assertThatThrownBy(() -> server.children("/"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining(server.connectString())
                    .hasMessageContaining("restart()");
            assertThatThrownBy(() -> server.expireSession(1)).isInstanceOf(IllegalStateException.class);
            assertThat(server.requests().total()).isZero();
        }
    }

    @Test
    void closedServer_cannotBeRestarted() {
        EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
        server.close();
        server.close();
        assertThatThrownBy(server::restart)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
    }

    @Test
    @Tag("alone")
    void close_leavesNoThreadAndNoFile() throws IOException, InterruptedException, KeeperException {
        LeakCheck threads = LeakCheck.start();
        List<Path> before = temporaryDirectories(); // a process that was killed may have left one of the same port
        EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
        try (Client client = Client.connect(server.connectString())) {
            client.create("/a");
            assertThat(temporaryDirectoriesOf(server, before)).hasSize(1);
            assertThat(threads.newThreads()).isNotEmpty();
        }
        server.close();
        assertThat(threads.newThreads())
                .filteredOn(thread -> !thread.getName().contains("EventThread"))
                .isEmpty();
        threads.assertNoNewThreads(LIMIT);
        assertThat(temporaryDirectoriesOf(server, before)).isEmpty();
    }

    @Test
    @Tag("alone")
    void stopByInterruptedThread_works_andKeepsTheFlag() throws InterruptedException {
        LeakCheck threads = LeakCheck.start();
        EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
        Client client = Client.connect(server.connectString());
        Thread.currentThread().interrupt();
        server.stop();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(threads.newThreads())
                .filteredOn(thread -> !thread.getName().contains("SendThread")
                        && !thread.getName().contains("EventThread"))
                .isEmpty();
        server.restart();
        client.awaitState(KeeperState.SyncConnected, 2);
        client.close();
        server.close();
        threads.assertNoNewThreads(LIMIT);
    }

    @Test
    void chosenDirectory_staysAndServesTheNextServer(@TempDir Path directory) {
        Path data = directory.resolve("data");
        try (EmbeddedZooKeeper server =
                EmbeddedZooKeeper.builder().dataDirectory(data).fsync(true).start()) {
            server.createNode("/a", "x".getBytes(UTF_8));
        }
        assertThat(data).isDirectory();
        try (EmbeddedZooKeeper server =
                EmbeddedZooKeeper.builder().dataDirectory(data).start()) {
            assertThat(server.data("/a"))
                    .hasValueSatisfying(value -> assertThat(value).asString().isEqualTo("x"));
        }
        assertThat(System.getProperty("zookeeper.forceSync")).isNull();
    }

    @Test
    @Tag("alone")
    void unusableDirectory_isReportedAndLeavesNothing(@TempDir Path directory)
            throws IOException, InterruptedException {
        LeakCheck threads = LeakCheck.start();
        Path file = Files.createFile(directory.resolve("version-2"));
        assertThatThrownBy(() ->
                        EmbeddedZooKeeper.builder().dataDirectory(directory).start())
                .isInstanceOf(RuntimeException.class)
                .hasMessageContaining(directory.toString());
        assertThat(file).exists();
        threads.assertNoNewThreads(LIMIT);
    }

    /** A listener without address reuse gets the port only if nobody keeps it. */
    @Test
    void failedStart_freesThePort(@TempDir Path directory) throws IOException {
        Path file = Files.createFile(directory.resolve("no-directory"));
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, LoopbackPort.loopback())) {
            port = free.getLocalPort();
        }
        assertThatThrownBy(() -> EmbeddedZooKeeper.builder()
                        .port(port)
                        .dataDirectory(file)
                        .start())
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining(file.toString());
        try (ServerSocket next = new ServerSocket()) {
            next.setReuseAddress(false);
            next.bind(new InetSocketAddress(LoopbackPort.loopback(), port));
            assertThat(next.isBound()).isTrue();
        }
    }

    @Test
    void expireSession_expiresTheClientAndRemovesItsNodes() throws KeeperException, InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                Client client = Client.connect(server.connectString());
                Client bystander = Client.connect(server.connectString())) {
            client.create("/ephemeral", CreateMode.EPHEMERAL);
            assertThat(server.ephemerals(client.session())).containsExactly("/ephemeral");
            long session = client.session();

            assertThat(server.expireSession(session)).isTrue();

            assertThat(server.nodeExists("/ephemeral")).isFalse();
            assertThat(server.ephemerals(session)).isEmpty();
            assertThat(server.sessions()).containsExactly(bystander.session());
            assertThat(server.expireSession(session)).isFalse();
            client.awaitState(KeeperState.Expired, 1);
            assertThat(bystander.states()).containsExactly(KeeperState.SyncConnected);
        }
    }

    @Test
    void sessionTimeouts_areLimited() {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.builder()
                        .tickTime(Duration.ofMillis(100))
                        .minSessionTimeout(Duration.ofMillis(200))
                        .maxSessionTimeout(Duration.ofMillis(3_000))
                        .start();
                Client client = Client.connect(server.connectString())) {
            assertThat(client.zk().getSessionTimeout()).isEqualTo(3_000);
        }
    }

    @Test
    void settingsOutOfRange_areRefused() {
        assertThatThrownBy(() ->
                        EmbeddedZooKeeper.builder().tickTime(Duration.ZERO).start())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("tickTime");
        assertThatThrownBy(() -> EmbeddedZooKeeper.builder()
                        .maxSessionTimeout(Duration.ofMillis(10))
                        .start())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("maxSessionTimeout");
    }

    @Test
    void requests_areCountedByTypeAndOperatorsAreNot() throws KeeperException, InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                Client client = Client.connect(server.connectString())) {
            RequestCounts before = server.requests();
            assertThat(before.of(RequestType.CREATE_SESSION)).isEqualTo(1);

            client.create("/a");
            client.zk().exists("/a", false);
            client.zk().exists("/b", false);
            client.zk().getChildren("/", false, null);
            server.createNode("/operator", new byte[0]);
            RequestCounts cost = server.requests().minus(before);

            assertThat(cost.of(RequestType.CREATE)).isEqualTo(1);
            assertThat(cost.of(RequestType.EXISTS)).isEqualTo(2);
            assertThat(cost.of(RequestType.GET_CHILDREN2)).isEqualTo(1);
            assertThat(cost.total()).as(cost.toString()).isEqualTo(4);
        }
    }

    @Test
    void watchesAndEvents_areCounted() throws KeeperException, InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                Client client = Client.connect(server.connectString())) {
            CompletableFuture<EventType> event = client.watch("/a");
            client.zk().getChildren("/", true);
            assertThat(server.watchCount()).isEqualTo(2);
            assertThat(server.watchers("/a")).containsExactly(client.session());
            assertThat(server.watchers("/")).isEmpty();
            assertThat(server.childWatchers("/")).containsExactly(client.session());
            assertThat(server.childWatchers("/a")).isEmpty();
            assertThat(server.eventsSent()).isZero();

            client.create("/a");

            assertThat(server.watchCount()).isZero();
            assertThat(server.watchers("/a")).isEmpty();
            assertThat(server.childWatchers("/")).isEmpty();
            assertThat(server.eventsSent()).isEqualTo(2);
            assertThat(event).succeedsWithin(LIMIT).isEqualTo(EventType.NodeCreated);
        }
    }

    @Test
    void twoServers_areIndependent() {
        try (EmbeddedZooKeeper one = EmbeddedZooKeeper.start();
                EmbeddedZooKeeper two = EmbeddedZooKeeper.start()) {
            one.createNode("/a", new byte[0]);
            assertThat(two.nodeExists("/a")).isFalse();
            one.stop();
            assertThat(two.isRunning()).isTrue();
            two.createNode("/b", new byte[0]);
            assertThat(two.children("/")).containsExactly("b", "zookeeper");
        }
    }

    @Test
    @Tag("alone")
    void start_leavesTheUncaughtExceptionHandlerAlone() {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            assertThat(server.isRunning()).isTrue();
            Thread.UncaughtExceptionHandler handler = Thread.getDefaultUncaughtExceptionHandler();
            assertThat(handler == null || !handler.getClass().getName().contains("zookeeper"))
                    .as("default handler %s", handler)
                    .isTrue();
        }
    }

    @Test
    void manyConnectionsOfOneHost_areAccepted() {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            List<Client> clients = Stream.generate(() -> Client.connect(server.connectString()))
                    .limit(80)
                    .toList();
            assertThat(server.sessions()).hasSize(80);
            clients.parallelStream().forEach(Client::close);
            await().atMost(LIMIT).until(() -> server.sessions().isEmpty());
        }
    }

    private static List<Path> temporaryDirectoriesOf(EmbeddedZooKeeper server, List<Path> before) throws IOException {
        return temporaryDirectories().stream()
                .filter(path -> !before.contains(path))
                .filter(path -> path.getFileName().toString().startsWith("embedded-zookeeper-" + server.port() + "-"))
                .toList();
    }

    private static List<Path> temporaryDirectories() throws IOException {
        Path parent = Path.of(System.getProperty("java.io.tmpdir", "/tmp"));
        try (Stream<Path> entries = Files.list(parent)) {
            return entries.filter(path -> path.getFileName().toString().startsWith("embedded-zookeeper-"))
                    .toList();
        }
    }
}
