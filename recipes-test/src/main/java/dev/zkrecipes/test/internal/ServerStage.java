// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/**
 * The setting of a test that needs a server: the server of its class, a path that no other test uses, and clients and
 * proxies. Whatever the test opens here is closed after it, in reverse order. Each test has its own thread, so a test
 * that hangs fails, even in a wait that no interruption ends.
 *
 * <p>A session lasts longer than any test, unless the test sets another time-out. So no lease is checked while requests
 * are counted. Likewise, empty containers stay until a test calls {@code reapContainers}.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@WithZooKeeper(tickTimeMillis = 100, containerCheckMillis = 3_600_000)
public abstract class ServerStage {
    /** The server of the class. */
    protected EmbeddedZooKeeper server;

    /** A path for this test only; it does not exist yet. */
    protected String path;

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    /** Creates the stage; a test extends it. */
    protected ServerStage() {}

    /** Takes the server, and names the path after the test. */
    @BeforeEach
    protected final void enter(EmbeddedZooKeeper started, TestInfo test) {
        server = started;
        path = "/" + test.getTestMethod().orElseThrow().getName() + "-"
                + Integer.toHexString(test.getDisplayName().hashCode());
    }

    /**
     * Closes everything that was opened, even if something cannot be closed: an open resource would disturb other
     * tests.
     */
    @AfterEach
    protected final void leave() {
        AssertionError failure = new AssertionError("cannot close what was opened");
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception | AssertionError e) {
                failure.addSuppressed(e);
            }
        }
        if (failure.getSuppressed().length > 0) {
            throw failure;
        }
    }

    /** Closes the resource after the test. Returns the resource. */
    protected final <T extends AutoCloseable> T opened(T resource) {
        opened.push(resource);
        return resource;
    }

    /** Opens a proxy in front of the server. */
    protected final FaultProxy proxy() {
        return opened(FaultProxy.to(server));
    }

    /** Opens a client of the server. */
    protected final ZooKeeperClient client() throws InterruptedException {
        return client(TestClients.LONG_SESSION);
    }

    /** Opens a client of the server with this session time-out. */
    protected final ZooKeeperClient client(Duration session) throws InterruptedException {
        return client(settings().sessionTimeout(session));
    }

    /** Opens a client behind this proxy. */
    protected final ZooKeeperClient client(FaultProxy proxy) throws InterruptedException {
        return client(proxy, TestClients.LONG_SESSION);
    }

    /** Opens a client behind this proxy with this session time-out. */
    protected final ZooKeeperClient client(FaultProxy proxy, Duration session) throws InterruptedException {
        return client(settings(proxy.connectString()).sessionTimeout(session));
    }

    /** Opens a client with these settings. */
    protected final ZooKeeperClient client(ZooKeeperClientBuilder settings) throws InterruptedException {
        return opened(TestClients.connect(settings));
    }

    /** Returns the settings of a client of the server. */
    protected final ZooKeeperClientBuilder settings() {
        return settings(server.connectString());
    }

    /** Returns the settings of a client with another connect string, such as that of a proxy. */
    protected static ZooKeeperClientBuilder settings(String connectString) {
        return ZooKeeperClient.builder().connectString(connectString).sessionTimeout(TestClients.LONG_SESSION);
    }

    /** Waits until the path of the test has this number of children. */
    protected final void awaitNodes(int count) {
        awaitNodes(path, count);
    }

    /** Waits until the path has this number of children. */
    protected final void awaitNodes(String lockPath, int count) {
        Soon.await().untilAsserted(() -> assertThat(server.children(lockPath)).hasSize(count));
    }

    /** Returns the path of the only child of the test's path. Fails if there is none or more than one. */
    protected final String node() {
        assertThat(server.children(path)).hasSize(1);
        return path + "/" + server.children(path).get(0);
    }

    /** Ends the session of the client at the server. */
    protected final void expire(ZooKeeperClient client) {
        assertThat(server.expireSession(client.zooKeeper().orElseThrow().getSessionId()))
                .as("the server had the session")
                .isTrue();
    }

    /**
     * {@return the number of watches on nodes of queues} A client that uses a path repeatedly also watches the path
     * itself, until a while after its last use.
     *
     * @param paths the paths of the locks
     */
    protected int queueWatches(String... paths) {
        return server.watchCount()
                - Stream.of(paths)
                        .mapToInt(lock -> server.watchers(lock).size())
                        .sum();
    }

    /** Fails unless exactly these requests were sent. */
    protected static void assertRequests(RequestCounts spent, RequestType... expected) {
        assertThat(spent.consistsOf(expected)).as(spent.toString()).isTrue();
    }
}
