// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.bench;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.KeeperException;

/** Something that is repeated and measures itself. */
@FunctionalInterface
interface Task {
    /** Nobody holds a lock for so long here, so a longer wait is a wait for a server. */
    Duration LIMIT = Duration.ofSeconds(30);

    /**
     * Does it once, and returns the nanoseconds of the part that counts.
     *
     * @throws TimeoutException if it took longer than {@link #LIMIT}
     */
    long run() throws InterruptedException, ExecutionException, TimeoutException, KeeperException;
}
