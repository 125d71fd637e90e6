// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.bench;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.KeeperException;

/** Something that is done again and again, and measures itself. */
@FunctionalInterface
interface Task {
    /** Nobody holds a lock of these for so long, so whoever waits longer waits for a server. */
    Duration LIMIT = Duration.ofSeconds(30);

    /**
     * Does it once; returns how many nanoseconds the part took that counts.
     *
     * @throws TimeoutException if it took longer than {@link #LIMIT}
     */
    long run() throws InterruptedException, ExecutionException, TimeoutException, KeeperException;
}
