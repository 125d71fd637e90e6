// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.handoff;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.test.internal.Lateness;
import java.time.Duration;

/**
 * Whether the machine stood still just now, for so long that a lease rightly says that it is not valid: a process that was
 * stopped does not trust what it knew before, and learns anew. To be asked again and again. Thread-safe.
 */
final class Standstill implements AutoCloseable {
    private final Lateness lateness = Lateness.measure();
    private final Duration timeout;

    private Duration late = Duration.ZERO;
    private long until = System.nanoTime();

    /**
     * Begins to look.
     *
     * @param timeout that of the session
     */
    Standstill(Duration timeout) {
        this.timeout = timeout;
    }

    /** Whether it stood still for a twelfth of the time-out since the last question, or did within half a time-out before. */
    private synchronized boolean isRecent() {
        Duration now = lateness.soFar();
        if (now.minus(late).compareTo(timeout.dividedBy(12)) > 0) {
            until = System.nanoTime() + timeout.dividedBy(2).toNanos();
        }
        late = now;
        return System.nanoTime() - until < 0;
    }

    /** Whether the lease is valid, or may say with reason that it is not. */
    boolean allows(Lease lease) {
        boolean valid = lease.isValid();
        return isRecent() || valid;
    }

    @Override
    public void close() {
        lateness.close();
    }
}
