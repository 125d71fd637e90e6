// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.time.Duration;

/**
 * A packet at which a {@link FaultProxy} stops one direction of a connection. Everything that follows the packet in
 * that direction waits, too; the other direction and other connections are not affected. Instances are thread-safe.
 *
 * <p>A test that forgets to release the packet still ends, because closing the proxy releases it.
 */
public final class Held {
    private final Fault stop;
    private final Runnable wakeStreams;

    Held(Fault stop, Runnable wakeStreams) {
        this.stop = stop;
        this.wakeStreams = wakeStreams;
    }

    /** {@return whether the packet has arrived} Once true, it stays true, even after the packet was released. */
    public boolean isReached() {
        return stop.hasFired();
    }

    /**
     * Waits until the packet has arrived and the proxy has stopped in front of it.
     *
     * @param limit the longest time to wait
     * @throws AssertionError if the packet does not arrive within that time, or cannot arrive any more
     * @throws InterruptedException if the thread is interrupted
     */
    public void awaitReached(Duration limit) throws InterruptedException {
        stop.awaitFired(limit);
    }

    /** Lets the packet and what follows it continue. If the packet has not arrived yet, it will not be held. */
    public void release() {
        stop.release();
        stop.disarm();
        wakeStreams.run();
    }

    @Override
    public String toString() {
        return stop.what() + (stop.isReleased() ? " (released)" : isReached() ? " (held)" : " (not yet)");
    }
}
