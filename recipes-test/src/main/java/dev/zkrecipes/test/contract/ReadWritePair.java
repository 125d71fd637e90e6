// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import java.util.Objects;

/**
 * The two sides of one read-write lock.
 *
 * @param read the side that any number of holders can share
 * @param write the side that has one holder, which excludes all others
 */
public record ReadWritePair(InterProcessLock read, InterProcessLock write) {
    /**
     * Creates a pair.
     *
     * @param read the lock of readers
     * @param write the lock of writers
     */
    public ReadWritePair {
        Objects.requireNonNull(read, "read");
        Objects.requireNonNull(write, "write");
    }

    /** Creates a read-write lock on a path. */
    @FunctionalInterface
    public interface Maker {
        /**
         * {@return both sides of a new lock}
         *
         * @param client the client to use
         * @param path the path, which nothing else uses
         * @param options optional settings
         */
        ReadWritePair make(ZooKeeperClient client, String path, LockOptions options);
    }
}
