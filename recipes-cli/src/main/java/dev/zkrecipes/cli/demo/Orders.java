// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The orders that a child has received, and whether the demo is still alive.
 *
 * <p>A stop interrupts the worker only where it waits, never while it writes: see {@link #interruptibly}.
 */
final class Orders {
    /** How long a child may take to end after the demo's death. */
    private static final Duration LAST_MOMENT = Duration.ofSeconds(3);

    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final AtomicBoolean idle = new AtomicBoolean();
    private final Runnable atEnd;
    private volatile boolean orphaned;

    @GuardedBy("this")
    private @Nullable Thread waiting;

    /** Something that waits and may be interrupted. */
    @FunctionalInterface
    interface Wait<T> {
        T await() throws InterruptedException;
    }

    private Orders(Runnable atEnd) {
        this.atEnd = atEnd;
    }

    /** Listens on a daemon thread. When the input ends, the JVM does so too, by force if it does not by itself. */
    static Orders listen(InputStream in) {
        return listen(in, Orders::endByForce);
    }

    static Orders listen(InputStream in, Runnable atEnd) {
        Orders orders = new Orders(atEnd);
        Thread ear = new Thread(() -> orders.hear(in), "orders");
        ear.setDaemon(true);
        ear.start();
        return orders;
    }

    void awaitBegin() throws InterruptedException {
        interruptibly(() -> {
            begun.await();
            return true;
        });
    }

    void awaitStop() throws InterruptedException {
        stopped.await();
    }

    boolean isStopped() {
        return stopped.getCount() == 0;
    }

    /** Whether the demo is dead: nobody else will clean up. */
    boolean isOrphaned() {
        return orphaned;
    }

    /** Whether to hold and do nothing; true once for each such order. */
    boolean takeIdle() {
        return idle.getAndSet(false);
    }

    /**
     * Does nothing for a while.
     *
     * @throws InterruptedException if told to stop, before or meanwhile
     */
    void pause(Duration time) throws InterruptedException {
        if (stopped.await(time.toNanos(), TimeUnit.NANOSECONDS)) {
            throw new InterruptedException("told to stop");
        }
    }

    /**
     * Waits for something in the calling thread, which a stop interrupts.
     *
     * @throws InterruptedException if told to stop, before or meanwhile
     */
    <T> T interruptibly(Wait<T> wait) throws InterruptedException {
        synchronized (this) {
            if (isStopped()) {
                throw new InterruptedException("told to stop");
            }
            waiting = Thread.currentThread();
        }
        try {
            return wait.await();
        } finally {
            synchronized (this) {
                waiting = null;
                // isStopped() shows a stop that comes after the wait; it must not interrupt a write.
                Thread.interrupted();
            }
        }
    }

    private void hear(InputStream in) {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.US_ASCII))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Order.parse(line).ifPresent(this::obey);
            }
        } catch (IOException e) {
            // The pipe is broken: the demo is gone.
        }
        orphaned = !isStopped();
        stop();
        atEnd.run();
    }

    private void obey(Order order) {
        switch (order) {
            case BEGIN -> begun.countDown();
            case IDLE -> idle.set(true);
            case STOP -> stop();
        }
    }

    private synchronized void stop() {
        stopped.countDown();
        if (waiting != null) {
            waiting.interrupt();
        }
    }

    private static void endByForce() {
        try {
            TimeUnit.NANOSECONDS.sleep(LAST_MOMENT.toNanos());
        } catch (InterruptedException e) {
            // Nobody interrupts this thread; if somebody does, the end comes at once.
        }
        Runtime.getRuntime().halt(1);
    }
}
