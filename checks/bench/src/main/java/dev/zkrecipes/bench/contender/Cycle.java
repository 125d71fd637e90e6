// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.contender;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The work that threads repeat: taking something and giving it back. May be shared by threads. */
@FunctionalInterface
public interface Cycle {
    /**
     * Takes it. This is timed separately.
     *
     * @return gives it back, on the same thread
     */
    AutoCloseable acquire() throws Exception;

    /** Many acquires and releases. */
    static Cycle repeated(Cycle lock, int times) {
        return () -> {
            for (int i = 0; i < times; i++) {
                lock.acquire().close();
            }
            return () -> {}; // each was given back at once
        };
    }

    /** Many acquires and releases, by one thread, of a lock that it holds. */
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
