// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import dev.zkrecipes.test.internal.MachineLoad;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The clients of a test, connected when the test gets them. A single one, which the test closes:
 *
 * <pre>{@code
 * try (ZooKeeperClient client = TestClients.connect(server.connectString(), Duration.ofSeconds(6))) {
 *     ...
 * }
 * }</pre>
 *
 * <p>Several that are closed together:
 *
 * <pre>{@code
 * try (TestClients clients = TestClients.of(server)) {
 *     ZooKeeperClient holder = clients.open();
 *     ZooKeeperClient waiter = clients.open(proxy.connectString());
 *     ...
 * }
 * }</pre>
 *
 * <p>A client that is not connected within 20 s, or longer on a busy machine, fails the test with an
 * {@link AssertionError}. Instances are thread-safe.
 */
public final class TestClients implements AutoCloseable {
    /**
     * A session time-out so long that nothing disappears just because its session does, and that no lease gets old
     * enough in a test to be checked among the requests that the test counts.
     */
    public static final Duration LONG_SESSION = Duration.ofSeconds(60);

    /** The session time-out of {@link ZooKeeperClient#connect}. */
    private static final Duration SESSION = Duration.ofSeconds(30);

    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final String connectString;
    private final Duration sessionTimeout;
    private final List<ZooKeeperClient> open = new CopyOnWriteArrayList<>();

    private TestClients(String connectString, Duration sessionTimeout) {
        this.connectString = connectString;
        this.sessionTimeout = sessionTimeout;
    }

    /**
     * {@return an empty group of clients with the session time-out that a client has by default, 30 s}
     *
     * @param server what {@link #open()} connects to
     */
    public static TestClients of(EmbeddedZooKeeper server) {
        return of(server, SESSION);
    }

    /**
     * {@return an empty group of clients}
     *
     * @param server what {@link #open()} connects to
     * @param sessionTimeout the session time-out that each asks for
     */
    public static TestClients of(EmbeddedZooKeeper server, Duration sessionTimeout) {
        return new TestClients(
                Objects.requireNonNull(server, "server").connectString(),
                Objects.requireNonNull(sessionTimeout, "sessionTimeout"));
    }

    /**
     * Makes a client with the session time-out that a client has by default, 30 s.
     *
     * @param connectString what to connect to: a server, a proxy, a chroot
     * @return the client, connected
     * @throws InterruptedException if the thread is interrupted while it waits
     */
    public static ZooKeeperClient connect(String connectString) throws InterruptedException {
        return connect(connectString, SESSION);
    }

    /**
     * Makes a client.
     *
     * @param connectString what to connect to: a server, a proxy, a chroot
     * @param sessionTimeout the session time-out to ask for
     * @return the client, connected
     * @throws InterruptedException if the thread is interrupted while it waits
     */
    public static ZooKeeperClient connect(String connectString, Duration sessionTimeout) throws InterruptedException {
        Objects.requireNonNull(sessionTimeout, "sessionTimeout");
        return connect(ZooKeeperClient.builder().connectString(connectString).sessionTimeout(sessionTimeout));
    }

    /**
     * Makes a client with other settings.
     *
     * @param settings all that the client needs
     * @return the client, connected
     * @throws InterruptedException if the thread is interrupted while it waits
     */
    public static ZooKeeperClient connect(ZooKeeperClientBuilder settings) throws InterruptedException {
        return connected(Objects.requireNonNull(settings, "settings").build(), LIMIT);
    }

    static ZooKeeperClient connected(ZooKeeperClient client, Duration limit) throws InterruptedException {
        Duration stretched = MachineLoad.stretched(limit);
        boolean connected = false;
        try {
            connected = client.awaitConnected(stretched);
        } finally {
            if (!connected) {
                client.close();
            }
        }
        if (!connected) {
            throw new AssertionError("a client was not connected after " + stretched.toMillis() + " ms");
        }
        return client;
    }

    /**
     * Makes one more client of the group.
     *
     * @return the client, connected; it is closed with the group, or before
     * @throws InterruptedException if the thread is interrupted while it waits
     */
    public ZooKeeperClient open() throws InterruptedException {
        return open(connectString);
    }

    /**
     * Makes one more client of the group that connects elsewhere, such as to a proxy in front of the server.
     *
     * @param connectString what to connect to
     * @return the client, connected; it is closed with the group, or before
     * @throws InterruptedException if the thread is interrupted while it waits
     */
    public ZooKeeperClient open(String connectString) throws InterruptedException {
        ZooKeeperClient client = connect(connectString, sessionTimeout);
        open.add(client);
        return client;
    }

    /**
     * {@return a client that the group has opened}
     *
     * @param index 0 for the first
     */
    public ZooKeeperClient get(int index) {
        return open.get(index);
    }

    /** Closes all clients of the group. Closing twice does nothing more. */
    @Override
    public void close() {
        open.forEach(ZooKeeperClient::close);
    }
}
