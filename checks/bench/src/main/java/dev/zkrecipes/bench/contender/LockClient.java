// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.contender;

import java.util.List;
import java.util.function.BooleanSupplier;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;

/** One session of one library, used the way its documentation says. Thread-safe. */
public interface LockClient {
    /**
     * Prepares work, for any number of threads.
     *
     * @param size the number that the work needs; 1 for others
     */
    Cycle cycle(Work work, int size, String path) throws Exception;

    /** Waits for the lock of a path, and says all that is known about it. */
    Turn acquire(String path) throws Exception;

    /** The handle that its user writes with. */
    ZooKeeper handle() throws Exception;

    /** Ends the session. */
    void close() throws Exception;

    /**
     * A lock that the library said is held.
     *
     * @param node the path of the holder's node
     * @param isShared whether others may hold beside it, as readers do
     * @param token rises from holder to holder of a path
     * @param guards make a transaction of the server fail once the lock is lost
     * @param believed what its user goes by: whether it is still held, as far as was heard
     * @param release gives it back
     */
    record Turn(
            String node,
            boolean isShared,
            long token,
            List<Op> guards,
            BooleanSupplier believed,
            AutoCloseable release) {
        /**
         * The turn of a library that has neither tokens nor guards: the number of the node, and a check that the node
         * is there.
         */
        static Turn on(String node, BooleanSupplier believed, AutoCloseable release) {
            return new Turn(node, false, numberOf(node), List.of(Op.check(node, -1)), believed, release);
        }

        /** The number at the end of a sequential node, which rises as long as its parent is never removed. */
        static long numberOf(String node) {
            return Long.parseLong(node.substring(node.length() - 10));
        }
    }
}
