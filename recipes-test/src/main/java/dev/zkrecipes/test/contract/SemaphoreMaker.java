// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import java.util.function.IntFunction;

/** Creates a semaphore on a path. */
@FunctionalInterface
public interface SemaphoreMaker {
    /**
     * {@return a new semaphore: a function from a number of permits to the lock that takes all of them together} For a
     * number that is not positive, {@link IllegalArgumentException} is thrown by the function, or by the lock when it
     * is acquired.
     *
     * @param client the client to use
     * @param path the path, which only this semaphore uses
     * @param limit the number of permits
     * @param options optional settings
     */
    IntFunction<InterProcessLock> make(ZooKeeperClient client, String path, int limit, LockOptions options);
}
