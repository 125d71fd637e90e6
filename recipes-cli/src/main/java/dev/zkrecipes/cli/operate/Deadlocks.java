// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import dev.zkrecipes.core.Deadlock;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.queue.WaitGraph;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;

/**
 * The deadlocks among the locks at a path and below it.
 *
 * @param locks how many locks were looked at
 * @param found those that are proven, and those that are suspected
 */
public record Deadlocks(int locks, List<Deadlock> found) {
    /**
     * Looks for them. Nothing is written: what proves a deadlock is a transaction that only checks.
     *
     * @param client where to look
     * @param root the path
     * @return what was found
     * @throws InterruptedException if the thread is interrupted
     * @throws dev.zkrecipes.core.LockAccessException if the root may not be read
     */
    public static Deadlocks below(ZooKeeperClient client, String root) throws InterruptedException {
        Reads reads = new Reads(client, false);
        Tree tree = Tree.read(reads, root, true);
        return reads.attempt(root, () -> {
            WaitGraph graph = new WaitGraph();
            for (Tree.Lock lock : tree.locks()) {
                add(graph, lock.view(), reads);
            }
            ZooKeeper zooKeeper = client.zooKeeper().orElseThrow();
            List<Deadlock> found = new ArrayList<>();
            for (WaitGraph.Circle circle : graph.circles(Instant.now())) {
                if (!circle.isCertain() || isThereAtOnce(circle, zooKeeper)) {
                    found.add(new Deadlock(circle.isCertain(), circle.members()));
                }
            }
            return new Deadlocks(tree.locks().size(), found);
        });
    }

    /** The nodes were read for the tree, and are not read again. */
    private static void add(WaitGraph graph, PathView view, Reads reads) throws InterruptedException, KeeperException {
        Map<String, PathView.Place> places = view.places().stream()
                .collect(Collectors.toMap(
                        place -> Tree.child(view.path(), place.node().name()), place -> place));
        Map<String, Answer<Content>> contents = reads.contents(places.keySet());
        places.forEach((node, place) -> {
            Answer<Content> content = contents.get(node);
            if (content != null && content.isOk()) {
                graph.add(view.path(), place.node(), content.value());
            }
        });
    }

    private static boolean isThereAtOnce(WaitGraph.Circle circle, ZooKeeper zooKeeper)
            throws InterruptedException, KeeperException {
        try {
            zooKeeper.multi(
                    circle.nodes().stream().map(node -> Op.check(node, -1)).toList());
            return true;
        } catch (KeeperException.NoNodeException e) {
            return false;
        }
    }
}
