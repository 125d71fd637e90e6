// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import java.util.function.IntFunction;

/** Makes a semaphore on a path. */
@FunctionalInterface
public interface SemaphoreMaker {
    /**
     * {@return a new instance: what gives, for a number of permits, the lock that takes them all together} That refuses
     * a number that is not positive with {@link IllegalArgumentException}, at once or when it is acquired.
     *
     * @param client what it works on
     * @param path the path, which it may use as it likes
     * @param limit how many permits there are
     * @param options how it behaves
     */
    IntFunction<InterProcessLock> make(ZooKeeperClient client, String path, int limit, LockOptions options);
}
