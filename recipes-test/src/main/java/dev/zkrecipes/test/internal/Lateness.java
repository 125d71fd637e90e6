// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.internal;

import com.google.common.base.Throwables;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures how late the threads of this JVM run on a machine that has too much to do. There are two kinds of
 * lateness, and the greater one counts:
 *
 * <ul>
 *   <li>Pauses. A thread beside the test waits again and again for a moment, and adds up by how much each wait was
 *       too long.
 *   <li>Slowness. With more work than processors, a thread that works is slowed down by the
 *       {@linkplain MachineLoad load} of the machine, which a thread that waits does not notice.
 * </ul>
 *
 * <p>A test adds the lateness to its bounds on time, so that they say something about the code rather than about the
 * machine:
 *
 * <pre>{@code
 * try (Lateness lateness = Lateness.measure()) {
 *     long start = System.nanoTime();
 *     lease.close();
 *     Duration took = Duration.ofNanos(System.nanoTime() - start);
 *     assertThat(took).isLessThan(Duration.ofMillis(500).plus(lateness.soFar()));
 * }
 * }</pre>
 *
 * <p>Instances are thread-safe.
 */
public final class Lateness implements AutoCloseable {
    private static final long MOMENT = Duration.ofMillis(5).toNanos();

    @GuardedBy("this")
    private long sum;

    /** When the present wait should end. */
    @GuardedBy("this")
    private long due = System.nanoTime() + MOMENT;

    private volatile boolean closed;

    private final long begun = System.nanoTime();

    private Lateness() {}

    /** Measures how long a call would take on a machine that keeps up. */
    public static Duration without(Workers.Body call) {
        try (Lateness lateness = measure()) {
            long start = System.nanoTime();
            call.run();
            return Duration.ofNanos(System.nanoTime() - start).minus(lateness.soFar());
        } catch (Exception e) {
            Throwables.throwIfUnchecked(e);
            throw new AssertionError("a timed call has failed", e);
        }
    }

    /** Starts to measure. */
    public static Lateness measure() {
        Lateness lateness = new Lateness();
        Thread thread = new Thread(lateness::run, "lateness");
        thread.setDaemon(true);
        thread.start();
        return lateness;
    }

    /** Tells by how much a thread that has worked or waited since the start would be late by now. */
    public synchronized Duration soFar() {
        long now = System.nanoTime();
        long paused = sum + Math.max(0, now - due);
        double slowed = (now - begun) * (1 - 1 / MachineLoad.perProcessor());
        return Duration.ofNanos(Math.max(paused, (long) slowed));
    }

    private void run() {
        while (!closed) {
            waitForAMoment();
        }
    }

    private void waitForAMoment() {
        long end = begin();
        for (long left = MOMENT; left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private synchronized long begin() {
        long now = System.nanoTime();
        sum += Math.max(0, now - due);
        due = now + MOMENT;
        return due;
    }

    /** Stops to measure. */
    @Override
    public void close() {
        closed = true;
    }
}
