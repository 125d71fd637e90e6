// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.Objects;
import java.util.WeakHashMap;
import java.util.function.Consumer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.CuratorEventType;
import org.apache.curator.framework.api.CuratorListener;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.curator.framework.listen.Listenable;
import org.apache.zookeeper.ZooKeeper;

/**
 * Creates a {@link ZooKeeperClient} on the connection of a {@code CuratorFramework}, so that our locks need no second
 * session.
 *
 * <pre>{@code
 * CuratorFramework curator = CuratorFrameworkFactory.newClient("zk1:2181,zk2:2181,zk3:2181", new RetryOneTime(100));
 * curator.start();
 * ZooKeeperClient client = CuratorClients.over(curator);
 * InterProcessMutex mutex = new InterProcessMutex(client, "/locks/orders");
 * }</pre>
 *
 * <p><b>Taken from the framework:</b> its current handle and every later one, and with them the session time-out,
 * chroot, TLS and authentication; its namespace; its {@code ACLProvider}. The client requests the ACL of a lock's path
 * from the provider when the lock object is created. The path, any missing nodes above it and the lock's nodes get that
 * ACL. <b>Not taken:</b> the retry policy. An acquire waits for as long as its own time-out allows.
 *
 * <p><b>Left alone:</b> the framework's watchers, listeners and caches, and the handle itself. Closing the client does
 * not close the framework.
 *
 * <p><b>Closing the framework</b> also closes the client, before the framework ends the session: waiters fail with
 * {@link dev.zkrecipes.core.ClientClosedException} at once, leases are LOST, and their nodes are deleted.
 */
public final class CuratorClients {
    /**
     * Keys and values are weak. A framework that is not closed keeps its client reachable, through the listener that
     * closes the client with the framework.
     */
    private static final Map<CuratorFramework, WeakReference<ZooKeeperClient>> SHARED = new WeakHashMap<>();

    private CuratorClients() {}

    /**
     * Returns the shared client of a framework, for code that creates its locks where it needs them. The first call
     * creates the client, as {@link #over(CuratorFramework)} does, and later calls return it.
     *
     * @param framework a started framework, not a view returned by {@code usingNamespace}
     * @return the client, the same each time until it is closed; it is closed with the framework
     * @throws IllegalStateException if the framework is not started or is closed
     * @throws IllegalArgumentException if the framework is a view returned by {@code usingNamespace}
     */
    public static ZooKeeperClient shared(CuratorFramework framework) {
        Objects.requireNonNull(framework, "framework");
        synchronized (SHARED) {
            WeakReference<ZooKeeperClient> known = SHARED.get(framework);
            ZooKeeperClient client = known == null ? null : known.get();
            if (client == null || client.connectionState() == ConnectionState.CLOSED) {
                client = over(framework);
                SHARED.put(framework, new WeakReference<>(client));
            }
            return client;
        }
    }

    /**
     * Creates a client. It connects in the background when the framework does.
     *
     * @param framework a started framework, not a view returned by {@code usingNamespace}
     * @return the client; it is closed with the framework, if not earlier
     * @throws IllegalStateException if the framework is not started or is closed
     * @throws IllegalArgumentException if the framework is a view returned by {@code usingNamespace}
     */
    public static ZooKeeperClient over(CuratorFramework framework) {
        return over(framework, settings -> {});
    }

    /**
     * Creates a client with its own settings, for example another namespace or an owner label:
     *
     * <pre>{@code
     * ZooKeeperClient client = CuratorClients.over(curator, settings -> settings.namespace("/billing"));
     * }</pre>
     *
     * @param framework a started framework, not a view returned by {@code usingNamespace}
     * @param settings changes the settings that were taken from the framework
     * @return the client; it is closed with the framework, if not earlier
     * @throws IllegalStateException if the framework is not started or is closed, or if {@code settings} name a server
     *     or handle, credentials, a client configuration or a session time-out, all of which are the framework's
     * @throws IllegalArgumentException if the framework is a view returned by {@code usingNamespace}
     */
    public static ZooKeeperClient over(CuratorFramework framework, Consumer<ZooKeeperClientBuilder> settings) {
        Objects.requireNonNull(framework, "framework");
        Objects.requireNonNull(settings, "settings");
        requireStarted(framework);
        Listenable<CuratorListener> events = events(framework);
        ZooKeeperClientBuilder builder = ZooKeeperClient.builder()
                .handles(() -> handleOf(framework))
                .aclByPath(FrameworkAcls.of(framework))
                .namespace("/" + framework.getNamespace());
        settings.accept(builder);
        ZooKeeperClient client = builder.build();
        CuratorListener closing = (curator, event) -> {
            if (event.getType() == CuratorEventType.CLOSING) {
                client.close();
            }
        };
        events.addListener(closing);
        client.addConnectionListener(state -> {
            if (state == ConnectionState.CLOSED) {
                events.removeListener(closing);
            }
        });
        if (framework.getState() == CuratorFrameworkState.STOPPED) { // closed before the listener was registered
            client.close();
        }
        return client;
    }

    private static void requireStarted(CuratorFramework framework) {
        if (framework.getState() != CuratorFrameworkState.STARTED) {
            throw new IllegalStateException("the CuratorFramework is " + framework.getState()
                    + ": start it before a client is made on its connection, and make none after it was closed");
        }
    }

    private static Listenable<CuratorListener> events(CuratorFramework framework) {
        try {
            return framework.getCuratorListenable();
        } catch (UnsupportedOperationException e) {
            throw new IllegalArgumentException(
                    "this CuratorFramework is a view in the namespace " + framework.getNamespace()
                            + ", which is not told when the framework is closed: give the framework itself, and"
                            + " settings -> settings.namespace(\"/" + framework.getNamespace() + "\")",
                    e);
        }
    }

    /** Returns the framework's current handle. The client calls this again when that handle has ended. */
    private static ZooKeeper handleOf(CuratorFramework framework) {
        try {
            return framework.getZookeeperClient().getZooKeeper();
        } catch (Exception e) {
            throw new IllegalStateException("the CuratorFramework has no ZooKeeper handle now", e);
        }
    }
}
