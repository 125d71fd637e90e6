// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.mutex;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;

/**
 * What a recipe brings to the contract suites: how to make the lock under test, and one that conflicts with it.
 *
 * @param lock makes the lock under test
 * @param rival makes a lock that can never be held together with it
 * @param reentrant whether its holding thread may acquire again
 */
record Recipe(Maker lock, Maker rival, boolean reentrant) {

    /** Makes a lock on a path. */
    @FunctionalInterface
    interface Maker {
        InterProcessLock make(ZooKeeperClient client, String path, LockOptions options);
    }

    /** A lock of which only one can be held at a time. */
    static Recipe exclusive(Maker lock, boolean reentrant) {
        return new Recipe(lock, lock, reentrant);
    }
}
