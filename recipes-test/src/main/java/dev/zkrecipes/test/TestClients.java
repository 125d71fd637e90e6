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
 * Creates clients for a test, which are connected when the test gets them. A test closes a single client itself:
 *
 * <pre>{@code
 * try (ZooKeeperClient client = TestClients.connect(server.connectString(), Duration.ofSeconds(6))) {
 *     ...
 * }
 * }</pre>
 *
 * <p>Several clients are closed together:
 *
 * <pre>{@code
 * try (TestClients clients = TestClients.of(server)) {
 *     ZooKeeperClient holder = clients.open();
 *     ZooKeeperClient waiter = clients.open(proxy.connectString());
 *     ...
 * }
 * }</pre>
 *
 * <p>If a client is not connected within 20 s (or longer on a busy machine), the test fails with an
 * {@link AssertionError}. Instances are thread-safe.
 */
public final class TestClients implements AutoCloseable {
    /**
     * A session time-out that no test outlasts. With it, no node disappears because a session has expired. Also, no
     * lease gets so old that the client checks it, so a test that counts requests sees only those that it expects.
     */
    public static final Duration LONG_SESSION = Duration.ofSeconds(60);

    /** The session time-out that {@link ZooKeeperClient#connect} uses. */
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
     * {@return an empty group of clients with the default session time-out of a client, 30 s}
     *
     * @param server the server to which {@link #open()} connects
     */
    public static TestClients of(EmbeddedZooKeeper server) {
        return of(server, SESSION);
    }

    /**
     * {@return an empty group of clients}
     *
     * @param server the server to which {@link #open()} connects
     * @param sessionTimeout the session time-out that each client requests
     */
    public static TestClients of(EmbeddedZooKeeper server, Duration sessionTimeout) {
        return new TestClients(
                Objects.requireNonNull(server, "server").connectString(),
                Objects.requireNonNull(sessionTimeout, "sessionTimeout"));
    }

    /**
     * Creates a client with the default session time-out, 30 s.
     *
     * @param connectString the address of a server or a proxy, with or without a chroot
     * @return the connected client
     * @throws InterruptedException if the thread is interrupted while it waits
     */
    public static ZooKeeperClient connect(String connectString) throws InterruptedException {
        return connect(connectString, SESSION);
    }

    /**
     * Creates a client with a session time-out.
     *
     * @param connectString the address of a server or a proxy, with or without a chroot
     * @param sessionTimeout the session time-out to request
     * @return the connected client
     * @throws InterruptedException if the thread is interrupted while it waits
     */
    public static ZooKeeperClient connect(String connectString, Duration sessionTimeout) throws InterruptedException {
        Objects.requireNonNull(sessionTimeout, "sessionTimeout");
        return connect(ZooKeeperClient.builder().connectString(connectString).sessionTimeout(sessionTimeout));
    }

    /**
     * Creates a client with any settings.
     *
     * @param settings all settings of the client
     * @return the connected client
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
     * Adds a client to the group.
     *
     * @return the connected client; it is closed with the group, if the test has not closed it
     * @throws InterruptedException if the thread is interrupted while it waits
     */
    public ZooKeeperClient open() throws InterruptedException {
        return open(connectString);
    }

    /**
     * Adds a client that connects to another address, such as a proxy in front of the server.
     *
     * @param connectString the address to connect to
     * @return the connected client; it is closed with the group, if the test has not closed it
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
     * @param index the position of the client in the order of opening, from 0
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
