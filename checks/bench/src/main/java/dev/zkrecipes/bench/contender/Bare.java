// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.contender;

import dev.zkrecipes.bench.measure.Cycle;
import dev.zkrecipes.bench.measure.Site;
import dev.zkrecipes.bench.measure.Workload;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/** ZooKeeper's own client. Where nobody contends: a create and a delete, the least that a lock can cost. */
public final class Bare {
    private static final byte[] NO_DATA = {};

    private Bare() {}

    /** Creates and deletes a node, without looking for others in front. */
    public static Workload.Opener createAndDelete() {
        return Workload.shared(
                Bare::connect, (zooKeeper, site) -> thread -> new NodeCycle(zooKeeper, site.path(), true));
    }

    /** A cycle that goes on when the delete is sent. */
    public static Workload.Opener createAndDeleteNotAwaited() {
        return Workload.shared(
                Bare::connect, (zooKeeper, site) -> thread -> new NodeCycle(zooKeeper, site.path(), false));
    }

    /** Threads that share a handle and have a path each. */
    public static Workload.Opener createAndDeleteOfPaths(int count) {
        return Workload.shared(Bare::connect, (zooKeeper, site) -> {
            List<String> paths = makePaths(zooKeeper, site, count);
            return thread -> new NodeCycle(zooKeeper, paths.get(thread), true);
        });
    }

    /** Nodes below several paths, in one transaction each way. */
    public static Workload.Opener transaction(int count) {
        return Workload.shared(Bare::connect, (zooKeeper, site) -> {
            List<String> paths = makePaths(zooKeeper, site, count);
            return thread -> new TransactionCycle(zooKeeper, paths);
        });
    }

    /** The lock as the textbook has it, all threads on one handle. */
    public static Workload.Opener textbook() {
        return Workload.shared(Bare::connect, (zooKeeper, site) -> thread -> new TextbookLock(zooKeeper, site.path()));
    }

    /** The lock as the textbook has it, each thread with a handle of its own. */
    public static Workload.Opener textbookOfClients(int count) {
        return Workload.each(count, Bare::connect, (zooKeeper, site) -> new TextbookLock(zooKeeper, site.path()));
    }

    private static ZooKeeper connect(Site site) throws InterruptedException {
        ZooKeeper zooKeeper = Handles.connect(site.connectString());
        makeParents(zooKeeper, site.path());
        return zooKeeper;
    }

    private static List<String> makePaths(ZooKeeper zooKeeper, Site site, int count) throws InterruptedException {
        List<String> paths = site.paths(count);
        for (String path : paths) {
            makeParents(zooKeeper, path);
        }
        return paths;
    }

    /** Makes a node and those above it. */
    public static void makeParents(ZooKeeper zooKeeper, String path) throws InterruptedException {
        for (int end = path.indexOf('/', 1); end >= 0; end = path.indexOf('/', end + 1)) {
            makeNode(zooKeeper, path.substring(0, end));
        }
        makeNode(zooKeeper, path);
    }

    private static void makeNode(ZooKeeper zooKeeper, String path) throws InterruptedException {
        try {
            zooKeeper.create(path, NO_DATA, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        } catch (KeeperException.NodeExistsException e) {
            // it exists already
        } catch (KeeperException e) {
            throw new IllegalStateException(e);
        }
    }

    private static final class NodeCycle implements Cycle {
        private final ZooKeeper zooKeeper;
        private final String prefix;
        private final boolean awaited;
        private String node = "";

        NodeCycle(ZooKeeper zooKeeper, String path, boolean awaited) {
            this.zooKeeper = zooKeeper;
            this.prefix = path + "/lock-";
            this.awaited = awaited;
        }

        @Override
        public void acquire() throws InterruptedException {
            try {
                node = zooKeeper.create(prefix, NO_DATA, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL);
            } catch (KeeperException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void release() throws InterruptedException {
            if (!awaited) {
                zooKeeper.delete(node, -1, (rc, path, context) -> {}, null);
                return;
            }
            try {
                zooKeeper.delete(node, -1);
            } catch (KeeperException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static final class TransactionCycle implements Cycle {
        private final ZooKeeper zooKeeper;
        private final List<Op> creates;
        private List<OpResult> nodes = List.of();

        TransactionCycle(ZooKeeper zooKeeper, List<String> paths) {
            this.zooKeeper = zooKeeper;
            this.creates = paths.stream()
                    .map(path ->
                            Op.create(path + "/lock-", NO_DATA, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL))
                    .toList();
        }

        @Override
        public void acquire() throws InterruptedException {
            nodes = multi(creates);
        }

        @Override
        public void release() throws InterruptedException {
            multi(IntStream.range(0, nodes.size())
                    .mapToObj(i -> Op.delete(((OpResult.CreateResult) nodes.get(i)).getPath(), -1))
                    .toList());
        }

        private List<OpResult> multi(List<Op> ops) throws InterruptedException {
            try {
                return zooKeeper.multi(ops);
            } catch (KeeperException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
