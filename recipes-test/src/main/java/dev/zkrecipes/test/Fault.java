// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A fault that a {@link FaultProxy} was told to make once, when a certain packet comes by. Instances are thread-safe.
 *
 * <p>A fault that cannot happen any more is given up: because the proxy was closed, because it was {@linkplain
 * #disarm() disarmed}, or because the connection ended between its request and the reply that it waited for.
 */
public final class Fault {
    private final Signal fired;
    private final FaultRules rules;

    Fault(Signal fired, FaultRules rules) {
        this.fired = fired;
        this.rules = rules;
    }

    /**
     * Tells whether the fault has happened.
     *
     * @return true when the packet is lost and, for a fault that cuts, the connection closed
     */
    public boolean hasFired() {
        return fired.isGiven();
    }

    /**
     * Returns a future of the fault.
     *
     * @return completed when the fault has happened, exceptionally with {@link IllegalStateException} when it is given
     *     up
     */
    public CompletableFuture<Void> fired() {
        return fired.future();
    }

    /**
     * Waits until the fault has happened.
     *
     * @param limit how long to wait
     * @throws AssertionError if it has not happened within that time or is given up
     * @throws InterruptedException if the thread is interrupted
     */
    public void awaitFired(Duration limit) throws InterruptedException {
        fired.await(limit);
    }

    /** Takes the fault back if it has not happened yet. */
    public void disarm() {
        rules.disarm(fired);
    }

    @Override
    public String toString() {
        return fired + (hasFired() ? " (happened)" : " (not yet)");
    }
}
