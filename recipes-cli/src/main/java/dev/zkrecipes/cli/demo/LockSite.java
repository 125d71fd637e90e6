// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;

/** The lock path as the demo itself sees it, through a connection of its own. */
final class LockSite implements AutoCloseable {
    private static final Duration REQUEST_LIMIT = Duration.ofSeconds(3);
    private static final int ANY_VERSION = -1;
    private static final int ATTEMPTS = 5;

    private final ZooKeeperClient client;
    private final String connectString;
    private final String path;

    private LockSite(ZooKeeperClient client, String connectString, String path) {
        this.client = client;
        this.connectString = connectString;
        this.path = path;
    }

    /**
     * Connects.
     *
     * @throws NoServerException if no server answers in time, or the chroot does not exist
     */
    static LockSite open(String connectString, String path, Duration limit) throws InterruptedException {
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKClientConfig.ZOOKEEPER_REQUEST_TIMEOUT, String.valueOf(REQUEST_LIMIT.toMillis()));
        ZooKeeperClient client = ZooKeeperClient.builder()
                .connectString(connectString)
                .sessionTimeout(Duration.ofSeconds(10))
                .clientConfig(config)
                .build();
        LockSite site = new LockSite(client, connectString, path);
        try {
            site.check(limit);
            return site;
        } catch (NoServerException | InterruptedException e) {
            site.close();
            throw e;
        }
    }

    private void check(Duration limit) throws InterruptedException {
        if (!client.awaitConnected(limit)) {
            throw new NoServerException("no server of " + connectString + " answered within " + Timeline.show(limit));
        }
        try {
            if (handle().exists("/", false) == null) {
                throw new NoServerException("the chroot of " + connectString + " does not exist; create it first");
            }
        } catch (KeeperException e) {
            throw new NoServerException(connectString + " answered and then failed: " + e.getMessage());
        }
    }

    String connectString() {
        return connectString;
    }

    /** The lock nodes below the path, also on paths below it: nodes that hold or wait, or were left behind. */
    List<String> nodes() throws InterruptedException {
        List<String> nodes = new ArrayList<>();
        for (String child : children(path)) {
            if (LockNode.isLockForm(child)) {
                nodes.add(child);
            } else {
                children(path + "/" + child).forEach(node -> nodes.add(child + "/" + node));
            }
        }
        return nodes;
    }

    private List<String> children(String node) throws InterruptedException {
        try {
            return handle().getChildren(node, false);
        } catch (KeeperException.NoNodeException e) {
            return List.of();
        } catch (KeeperException e) {
            throw new IllegalStateException("cannot look at " + node + ": " + e.getMessage(), e);
        }
    }

    /** Removes the lock path and everything below it. */
    void remove() {
        try {
            boolean removed = false;
            for (int attempt = 0; !removed && attempt < ATTEMPTS; attempt++) {
                for (String node : nodes()) {
                    delete(path + "/" + node);
                }
                for (String below : children(path)) {
                    delete(path + "/" + below);
                }
                removed = delete(path);
            }
            if (!removed) {
                throw new IllegalStateException("somebody makes nodes there");
            }
        } catch (KeeperException | IllegalStateException e) {
            throw new IllegalStateException("cannot remove " + path + ", please do so: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns false if a late request of a killed worker has created a node below. */
    private boolean delete(String node) throws KeeperException, InterruptedException {
        try {
            handle().delete(node, ANY_VERSION);
        } catch (KeeperException.NotEmptyException e) {
            return false;
        } catch (KeeperException.NoNodeException e) {
            // Its session has ended, or the server has removed the empty container.
        }
        return true;
    }

    private ZooKeeper handle() {
        return client.zooKeeper().orElseThrow(() -> new IllegalStateException("no session"));
    }

    @Override
    public void close() {
        client.close();
    }
}
