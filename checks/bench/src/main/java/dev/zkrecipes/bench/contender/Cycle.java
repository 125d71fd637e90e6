// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.contender;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The work that a thread repeats: acquiring something and releasing it. Several threads may share a cycle. */
@FunctionalInterface
public interface Cycle {
    /**
     * Acquires. Only this part of the cycle is timed.
     *
     * @return releases what was acquired, on the same thread
     */
    AutoCloseable acquire() throws Exception;

    /** Returns a cycle that acquires and releases a lock this many times. */
    static Cycle repeated(Cycle lock, int times) {
        return () -> {
            for (int i = 0; i < times; i++) {
                lock.acquire().close();
            }
            return () -> {}; // each was given back at once
        };
    }

    /**
     * Returns a cycle that acquires and releases this many times a lock that the thread already holds. Only one thread
     * may use it.
     */
    static Cycle reentrant(Cycle lock, int times) {
        AtomicReference<@Nullable AutoCloseable> hold = new AtomicReference<>();
        Cycle repeated = repeated(lock, times);
        return () -> {
            if (hold.get() == null) {
                hold.set(lock.acquire());
            }
            return repeated.acquire();
        };
    }
}
