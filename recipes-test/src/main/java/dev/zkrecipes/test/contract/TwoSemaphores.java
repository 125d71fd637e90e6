// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import java.util.function.IntFunction;

/** The setting of suites for semaphores: two clients, and the same semaphore through each of them. */
abstract class TwoSemaphores extends TwoClients<IntFunction<InterProcessLock>> {
    static final int LIMIT = 4;

    /** {@return a maker of the semaphore under test, the same in each call} */
    protected abstract SemaphoreMaker semaphores();

    @Override
    IntFunction<InterProcessLock> make(ZooKeeperClient with, String on) {
        return semaphores().make(with, on, LIMIT, LockOptions.defaults());
    }

    @Override
    protected Recipe recipe() {
        return Recipe.exclusive(
                (with, on, options) ->
                        semaphores().make(with, on, LIMIT, options).apply(LIMIT),
                Ownership.NOBODY);
    }
}
