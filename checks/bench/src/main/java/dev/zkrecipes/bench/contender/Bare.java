// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.contender;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.apache.curator.utils.ZKPaths;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/**
 * ZooKeeper's own client. Where nobody contends, a cycle is a create and a delete, which lock nothing; otherwise, it is
 * the {@link Textbook} lock. A holder believes that it holds the lock until the client reports that the session has
 * expired.
 */
public final class Bare implements LockClient {
    static final byte[] NO_DATA = {};

    private final String connectString;
    private final Duration sessionTimeout;
    private Session session;

    Bare(String connectString, Duration sessionTimeout) throws IOException {
        this.connectString = connectString;
        this.sessionTimeout = sessionTimeout;
        this.session = new Session(connectString, sessionTimeout);
    }

    private synchronized Session session() throws IOException, InterruptedException {
        if (session.expired) {
            session.zooKeeper.close();
            session = new Session(connectString, sessionTimeout);
        }
        return session;
    }

    @Override
    public ZooKeeper handle() throws IOException, InterruptedException {
        return session().zooKeeper;
    }

    @Override
    public Cycle cycle(Work work, int size, String path) throws Exception {
        ZooKeeper zooKeeper = handle();
        ZKPaths.mkdirs(zooKeeper, path);
        return switch (work) {
            case CONTENDED, HANDOFF -> () -> acquire(path).release();
            case NEW_PATH -> newPaths(zooKeeper, Work.newPaths(path));
            default -> pair(zooKeeper, path + "/lock-");
        };
    }

    /** Returns a cycle that creates and deletes a node, without checking whether others are in front of it. */
    private static Cycle pair(ZooKeeper zooKeeper, String prefix) {
        return () -> {
            String node = zooKeeper.create(prefix, NO_DATA, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL);
            return () -> zooKeeper.delete(node, -1);
        };
    }

    /**
     * Returns a cycle that creates a path and a node below it in one transaction, and deletes the node. The server
     * removes the empty path.
     */
    private static Cycle newPaths(ZooKeeper zooKeeper, Supplier<String> paths) {
        return () -> {
            String path = paths.get();
            List<OpResult> made = zooKeeper.multi(List.of(
                    Op.create(path, NO_DATA, Ids.OPEN_ACL_UNSAFE, CreateMode.CONTAINER),
                    Op.create(path + "/lock-", NO_DATA, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL)));
            String node = ((OpResult.CreateResult) made.get(1)).getPath();
            return () -> zooKeeper.delete(node, -1);
        };
    }

    @Override
    public Turn acquire(String path) throws Exception {
        Session mine = session();
        String node = Textbook.enqueue(mine.zooKeeper, path);
        Textbook.await(mine.zooKeeper, node);
        return Turn.on(node, () -> !mine.expired, () -> Textbook.release(mine.zooKeeper, node));
    }

    @Override
    public synchronized void close() throws InterruptedException {
        session.zooKeeper.close();
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
