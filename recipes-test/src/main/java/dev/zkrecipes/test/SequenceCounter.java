// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.NoNodeException;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.proto.DeleteRequest;
import org.apache.zookeeper.server.DataNode;
import org.apache.zookeeper.server.DataTree;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Moves the counter from which a path numbers its sequential children. */
final class SequenceCounter {
    private static final Logger LOG = LoggerFactory.getLogger(SequenceCounter.class);

    private SequenceCounter() {}

    /** Returns what was in the way, null if nothing. */
    static @Nullable String advance(RunningServer server, String path, int next) {
        AtomicReference<@Nullable String> problem = new AtomicReference<>();
        // On the server's own thread: the tree keeps a digest of itself that two writers at a time would spoil.
        server.barrier(() -> problem.set(advance(server.tree(), path, next)));
        // The server writes down the digest with each transaction, even one that fails; without, it would find a
        // difference, and complain, when it reads the next snapshot.
        failToDeleteNothing(server);
        return problem.get();
    }

    private static void failToDeleteNothing(RunningServer server) {
        try {
            server.submit(OperatorRequest.of(OpCode.delete, new DeleteRequest("/zookeeper/nothing", -1)));
        } catch (KeeperException e) {
            LOG.debug("as intended", e);
        }
    }

    private static @Nullable String advance(DataTree tree, String path, int next) {
        DataNode node = tree.getNode(path);
        if (node == null) {
            return "no such node";
        }
        int current = node.stat.getCversion();
        if (next < current) {
            return "its next number is " + current + " already, it cannot go back to " + next;
        }
        try {
            tree.setCversionPzxid(path, next, node.stat.getPzxid());
            return null;
        } catch (NoNodeException e) {
            return "no such node any more";
        }
    }
}
