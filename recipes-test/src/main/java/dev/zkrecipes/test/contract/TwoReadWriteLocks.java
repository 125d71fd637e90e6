// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;

/** What suites for read-write locks begin with: two clients, each with an object for the same lock. */
abstract class TwoReadWriteLocks extends TwoClients<ReadWritePair> {
    /** {@return a maker of the lock under test, the same in each call} */
    protected abstract ReadWritePair.Maker locks();

    @Override
    ReadWritePair make(ZooKeeperClient with, String on) {
        return locks().make(with, on, LockOptions.defaults());
    }

    @Override
    protected Recipe recipe() {
        return Recipe.exclusive(
                (with, on, options) -> locks().make(with, on, options).write(), Ownership.REENTRANT_THREAD);
    }
}
