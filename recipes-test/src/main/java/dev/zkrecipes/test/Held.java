// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.time.Duration;

/**
 * A packet in front of which a {@link FaultProxy} stops one direction of its connection. What comes behind it on that
 * connection waits too; the other direction and other connections are not affected. Instances are thread-safe.
 *
 * <p>A test that forgets to release it ends when the proxy is closed.
 */
public final class Held {
    private final Fault stop;
    private final Runnable wakeStreams;

    Held(Fault stop, Runnable wakeStreams) {
        this.stop = stop;
        this.wakeStreams = wakeStreams;
    }

    /** {@return whether the packet has come: true once the stream stands in front of it, even after it went on} */
    public boolean isReached() {
        return stop.hasFired();
    }

    /**
     * Waits until the packet has come and the stream stands in front of it.
     *
     * @param limit how long to wait
     * @throws AssertionError if it does not come within that time, or cannot come any more
     * @throws InterruptedException if the thread is interrupted
     */
    public void awaitReached(Duration limit) throws InterruptedException {
        stop.awaitFired(limit);
    }

    /** Lets the stream continue. If the packet has not come yet, it will not be held. */
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
