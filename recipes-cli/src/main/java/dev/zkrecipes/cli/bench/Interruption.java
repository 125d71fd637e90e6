// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.bench;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Ctrl-C, TERM and HUP: interrupt the work, and the JVM ends when the work has cleaned up. */
final class Interruption implements AutoCloseable {
    private final Thread worker;
    private final CountDownLatch over = new CountDownLatch(1);
    private boolean begun;
    private boolean cleaning;

    private Interruption(Thread worker) {
        this.worker = worker;
    }

    /** Until it is closed, the end of the JVM waits for this thread, but no longer than this. */
    static Interruption ofThisThread(Duration patience) {
        Interruption interruption = new Interruption(Thread.currentThread());
        Runtime.getRuntime().addShutdownHook(new Thread(() -> interruption.interrupt(patience), "zklock bench ends"));
        return interruption;
    }

    /** From now on the thread is not interrupted. */
    synchronized void beginCleaning() {
        cleaning = true;
        begun |= Thread.interrupted();
    }

    /** Whether the JVM is about to end. */
    synchronized boolean isBegun() {
        return begun;
    }

    @Override
    public void close() {
        over.countDown();
    }

    private void interrupt(Duration patience) {
        synchronized (this) {
            begun = true;
            if (!cleaning) {
                worker.interrupt();
            }
        }
        try {
            over.await(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
