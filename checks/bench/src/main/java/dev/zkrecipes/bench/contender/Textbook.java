// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.contender;

import dev.zkrecipes.bench.contender.LockClient.Turn;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/**
 * The lock of ZooKeeper's "Recipes and Solutions" on its client: a sequential ephemeral node, whose name has a GUID
 * by which it is found again when the answer to its creation is lost, and a watch on the next lower one. What fails
 * with the connection is repeated.
 */
public final class Textbook {
    /** How long a waiter that polls sleeps. */
    public static final int POLL_MILLIS = 250;

    private Textbook() {}

    /** How a waiter learns that its turn has come. Only the last one is the textbook's. */
    public enum Way {
        /** It lists the queue again after some time. */
        POLLING,
        /** It watches the list, as all others do: every change wakes all waiters. */
        PARENT,
        /** It watches the node right in front of its own, as nobody else does. */
        PREDECESSOR;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Takes a place at the end of the queue, and returns the node. */
    public static String enqueue(ZooKeeper zooKeeper, String path) throws KeeperException, InterruptedException {
        String guid = UUID.randomUUID().toString();
        while (true) {
            try {
                return zooKeeper.create(
                        path + "/" + guid + "-lock-",
                        Bare.NO_DATA,
                        Ids.OPEN_ACL_UNSAFE,
                        CreateMode.EPHEMERAL_SEQUENTIAL);
            } catch (KeeperException.ConnectionLossException e) {
                List<String> children = repeat(() -> zooKeeper.getChildren(path, false));
                for (String child : children) {
                    if (child.startsWith(guid)) {
                        return path + "/" + child;
                    }
                }
            }
        }
    }

    /** Waits for the turn of a node. */
    public static void await(ZooKeeper zooKeeper, String node, Way way) throws KeeperException, InterruptedException {
        String path = node.substring(0, node.lastIndexOf('/'));
        while (true) {
            CountDownLatch changed = new CountDownLatch(1);
            Watcher watcher = event -> changed.countDown();
            Watcher onList = way == Way.PARENT ? watcher : null;
            Optional<String> lower = repeat(() -> zooKeeper.getChildren(path, onList)).stream()
                    .filter(child -> Turn.numberOf(child) < Turn.numberOf(node))
                    .max(Comparator.comparing(Turn::numberOf));
            if (lower.isEmpty()) {
                return;
            }
            if (way == Way.POLLING) {
                Thread.sleep(POLL_MILLIS);
            } else if (way == Way.PARENT || exists(zooKeeper, path + "/" + lower.get(), watcher)) {
                changed.await();
            }
        }
    }

    private static boolean exists(ZooKeeper zooKeeper, String node, Watcher watcher)
            throws KeeperException, InterruptedException {
        return repeat(() -> Optional.ofNullable(zooKeeper.exists(node, watcher)))
                .isPresent();
    }

    /** Leaves the queue. */
    public static void release(ZooKeeper zooKeeper, String node) throws KeeperException, InterruptedException {
        try {
            repeat(() -> {
                zooKeeper.delete(node, -1);
                return true;
            });
        } catch (KeeperException.NoNodeException e) {
            // The deletion was repeated, or the session has ended.
        }
    }

    private static <T> T repeat(Request<T> request) throws KeeperException, InterruptedException {
        while (true) {
            try {
                return request.send();
            } catch (KeeperException.ConnectionLossException e) {
                Thread.sleep(100);
            }
        }
    }

    @FunctionalInterface
    private interface Request<T> {
        T send() throws KeeperException, InterruptedException;
    }
}
