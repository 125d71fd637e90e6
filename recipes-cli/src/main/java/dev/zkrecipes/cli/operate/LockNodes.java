// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.HashMap;
import java.util.Map;

/**
 * The nodes of the locks at a path and below it, as they were read one by one.
 *
 * @param byLock the nodes with their content, by the path of the lock; those that may not be read are left out
 */
public record LockNodes(Map<String, Map<LockNode, Content>> byLock) {
    /**
     * Reads the nodes.
     *
     * @param client the client to read with
     * @param root the path
     * @return the nodes
     * @throws InterruptedException if the thread is interrupted
     * @throws dev.zkrecipes.core.LockAccessException if the root may not be read
     */
    public static LockNodes below(ZooKeeperClient client, String root) throws InterruptedException {
        Reads reads = new Reads(client, false);
        Tree tree = Tree.read(reads, root, true);
        return reads.attempt(root, () -> {
            Map<String, Map<LockNode, Content>> byLock = new HashMap<>();
            for (Tree.Lock lock : tree.locks()) {
                String path = lock.view().path();
                Map<LockNode, Content> nodes = new HashMap<>();
                Map<String, LockNode> byPath = new HashMap<>();
                lock.view()
                        .places()
                        .forEach(place ->
                                byPath.put(Tree.child(path, place.node().name()), place.node()));
                // The tree has already read these contents, so no request is sent.
                for (Map.Entry<String, Answer<Content>> read :
                        reads.contents(byPath.keySet()).entrySet()) {
                    LockNode node = byPath.get(read.getKey());
                    if (node != null && read.getValue().isOk()) {
                        nodes.put(node, read.getValue().value());
                    }
                }
                byLock.put(path, nodes);
            }
            return new LockNodes(byLock);
        });
    }
}
