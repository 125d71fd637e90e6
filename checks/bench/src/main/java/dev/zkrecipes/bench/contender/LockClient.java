// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.contender;

import java.util.List;
import java.util.function.BooleanSupplier;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;

/**
 * A client of one library, used the way the library's documentation says. It has one session at a time. Thread-safe.
 */
public interface LockClient {
    /**
     * Prepares work that any number of threads may repeat.
     *
     * @param size a number that some kinds of work need, such as how many permits; 1 for the others
     */
    Cycle cycle(Work work, int size, String path) throws Exception;

    /** Waits for the lock of a path, and returns all that its holder can know about it. */
    Turn acquire(String path) throws Exception;

    /** Returns the ZooKeeper handle with which the user of this client writes. */
    ZooKeeper handle() throws Exception;

    /** Ends the session. */
    void close() throws Exception;

    /**
     * A hold of a lock that the library has granted.
     *
     * @param node the path of the holder's node
     * @param isShared whether others may hold the lock at the same time, as readers do
     * @param token a number that rises from holder to holder of a path
     * @param guards operations that make a transaction fail once the lock is lost
     * @param believed the check on which the holder relies: whether the lock is still held, as far as the client knows
     * @param release gives the lock back
     */
    record Turn(
            String node,
            boolean isShared,
            long token,
            List<Op> guards,
            BooleanSupplier believed,
            AutoCloseable release) {
        /**
         * Returns the hold of a library that has neither tokens nor guards. The number of the node serves as the token,
         * and a check that the node exists serves as the guard.
         */
        static Turn on(String node, BooleanSupplier believed, AutoCloseable release) {
            return new Turn(node, false, numberOf(node), List.of(Op.check(node, -1)), believed, release);
        }

        /**
         * Returns the number at the end of a sequential node's name. It rises from node to node as long as their parent
         * is never removed.
         */
        static long numberOf(String node) {
            return Long.parseLong(node.substring(node.length() - 10));
        }
    }
}
