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
 * @param read the side that any number may hold together
 * @param write the side that one holds alone
 */
public record ReadWritePair(InterProcessLock read, InterProcessLock write) {
    /**
     * Makes a pair.
     *
     * @param read the lock of readers
     * @param write the lock of writers
     */
    public ReadWritePair {
        Objects.requireNonNull(read, "read");
        Objects.requireNonNull(write, "write");
    }

    /** Makes a read-write lock on a path. */
    @FunctionalInterface
    public interface Maker {
        /**
         * {@return both sides of a new instance}
         *
         * @param client what it works on
         * @param path the path, which it may use as it likes
         * @param options how it behaves
         */
        ReadWritePair make(ZooKeeperClient client, String path, LockOptions options);
    }
}
