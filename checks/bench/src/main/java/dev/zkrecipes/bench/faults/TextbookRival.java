// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.faults;

import java.io.IOException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/**
 * The lock of ZooKeeper's "Recipes and Solutions" on its client: a sequential ephemeral node, whose name has a GUID
 * by which it is found again when the answer to its creation is lost, and a watch on the next lower one. What fails
 * with the connection is repeated. Its user believes it holds the lock until it hears that the session expired.
 */
final class TextbookRival implements Rival {
    private final String connectString;
    private final Duration sessionTimeout;
    private @Nullable Session session;

    TextbookRival(String connectString, Duration sessionTimeout) {
        this.connectString = connectString;
        this.sessionTimeout = sessionTimeout;
    }

    private synchronized Session session() throws IOException, InterruptedException {
        if (session == null || session.expired) {
            close();
            session = new Session(connectString, sessionTimeout);
        }
        return session;
    }

    @Override
    public ZooKeeper handle() throws IOException, InterruptedException {
        return session().zooKeeper;
    }

    @Override
    public Turn acquire(String path) throws IOException, KeeperException, InterruptedException {
        Session mine = session();
        ZooKeeper zooKeeper = mine.zooKeeper;
        String node = create(zooKeeper, path, UUID.randomUUID().toString());
        while (true) {
            Optional<String> lower = repeat(() -> zooKeeper.getChildren(path, false)).stream()
                    .filter(child -> Rival.numberOf(child) < Rival.numberOf(node))
                    .max(Comparator.comparing(Rival::numberOf));
            if (lower.isEmpty()) {
                return Turn.on(node, () -> !mine.expired, () -> delete(zooKeeper, node));
            }
            CountDownLatch changed = new CountDownLatch(1);
            String watched = path + "/" + lower.get();
            if (repeat(() -> Optional.ofNullable(zooKeeper.exists(watched, event -> changed.countDown())))
                    .isPresent()) {
                changed.await();
            }
        }
    }

    private static String create(ZooKeeper zooKeeper, String path, String guid)
            throws KeeperException, InterruptedException {
        while (true) {
            try {
                return zooKeeper.create(
                        path + "/" + guid + "-lock-",
                        new byte[0],
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

    private static void delete(ZooKeeper zooKeeper, String node) throws KeeperException, InterruptedException {
        try {
            repeat(() -> {
                zooKeeper.delete(node, -1);
                return true;
            });
        } catch (KeeperException.NoNodeException e) {
            // A repeated deletion, or the session has ended.
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

    @Override
    public synchronized void close() throws InterruptedException {
        if (session != null) {
            session.zooKeeper.close();
        }
    }

    @FunctionalInterface
    private interface Request<T> {
        T send() throws KeeperException, InterruptedException;
    }

    private static final class Session {
        private volatile boolean expired;
        private final ZooKeeper zooKeeper;

        Session(String connectString, Duration timeout) throws IOException {
            zooKeeper = new ZooKeeper(connectString, (int) timeout.toMillis(), event -> {
                if (event.getState() == KeeperState.Expired) {
                    expired = true;
                }
            });
        }
    }
}
