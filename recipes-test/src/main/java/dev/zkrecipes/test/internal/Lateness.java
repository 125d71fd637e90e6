// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.internal;

import com.google.common.base.Throwables;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures how late the threads of this JVM run on an overloaded machine. There are two kinds of lateness, and the
 * greater one counts:
 *
 * <ul>
 *   <li>Pauses. A separate thread repeatedly waits for a moment, and adds up by how much each wait was too long.
 *   <li>Slowness. If more threads work than there are processors, the {@linkplain MachineLoad load} of the machine
 *       slows each of them down, which a waiting thread does not notice.
 * </ul>
 *
 * <p>A test adds the lateness to its time limits, so that they test the code rather than the machine:
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

    /** Starts measuring. */
    public static Lateness measure() {
        Lateness lateness = new Lateness();
        Thread thread = new Thread(lateness::run, "lateness");
        thread.setDaemon(true);
        thread.start();
        return lateness;
    }

    /** Returns by how much a thread that has worked or waited since the start would be late by now. */
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

    /** Stops measuring. */
    @Override
    public void close() {
        closed = true;
    }
}
