// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.contender;

import dev.zkrecipes.bench.contender.LockClient.Turn;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/**
 * The lock of ZooKeeper's "Recipes and Solutions", on ZooKeeper's own client: a sequential ephemeral node, and a watch
 * on the node with the next lower number. The name of the node has a GUID, by which the node is found again when the
 * answer to its creation is lost. A request that fails with a connection loss is repeated.
 */
public final class Textbook {
    private Textbook() {}

    /** Creates a node at the end of the queue, and returns its path. */
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

    /** Waits until no node is in front of this one. */
    public static void await(ZooKeeper zooKeeper, String own) throws KeeperException, InterruptedException {
        String path = own.substring(0, own.lastIndexOf('/'));
        while (true) {
            CountDownLatch changed = new CountDownLatch(1);
            Watcher watcher = event -> changed.countDown();
            Optional<String> lower = repeat(() -> zooKeeper.getChildren(path, false)).stream()
                    .filter(child -> Turn.numberOf(child) < Turn.numberOf(own))
                    .max(Comparator.comparing(Turn::numberOf));
            if (lower.isEmpty()) {
                return;
            }
            String node = path + "/" + lower.get();
            if (repeat(() -> Optional.ofNullable(zooKeeper.exists(node, watcher)))
                    .isPresent()) {
                changed.await();
            }
        }
    }

    /** Deletes a node, if it still exists. */
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
