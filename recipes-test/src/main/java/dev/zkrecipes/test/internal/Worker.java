// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.internal;

import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Collectors;

/** One thread of {@link Workers}. Instances are thread-safe. */
public final class Worker {
    private final Thread thread;

    Worker(Thread thread) {
        this.thread = thread;
    }

    /** Interrupts the thread. */
    public void interrupt() {
        thread.interrupt();
    }

    /** Returns the thread, for instance to look at its state. */
    public Thread thread() {
        return thread;
    }

    /** Tells whether the thread still runs. */
    public boolean isAlive() {
        return thread.isAlive();
    }

    /** Returns whether the thread ended in time. */
    boolean join(Duration limit) throws InterruptedException {
        if (limit.isNegative() || limit.isZero()) {
            return !thread.isAlive();
        }
        // join(0) would wait forever.
        thread.join(Math.max(1, limit.toMillis()));
        return !thread.isAlive();
    }

    /** Where the thread is, for messages. */
    String describe() {
        return describe(thread);
    }

    static String describe(Thread thread) {
        return "\"" + thread.getName() + "\" " + thread.getState()
                + Arrays.stream(thread.getStackTrace())
                        .map(frame -> "\n        at " + frame)
                        .collect(Collectors.joining());
    }

    @Override
    public String toString() {
        return "worker \"" + thread.getName() + "\"" + (isAlive() ? "" : " (ended)");
    }
}
