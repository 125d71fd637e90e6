// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;

/** A client beside a busy one: the worst cycle of its lock, and how often a lease of the busy client was valid. */
final class QuietClient implements AutoCloseable {
    private final Lease other;
    private final Thread thread;
    private volatile boolean ended;
    private long worstNanos;
    private int samples;
    private int valid;

    QuietClient(ZooKeeperClient quiet, Lease other) {
        this.other = other;
        InterProcessLock cycled = new InterProcessMutex(quiet, "/figures/cycled");
        this.thread = new Thread(() -> observe(cycled), "observer");
        thread.setDaemon(true);
        thread.start();
    }

    private void observe(InterProcessLock cycled) {
        try {
            while (!ended) {
                long begun = System.nanoTime();
                cycled.acquire().close();
                long took = System.nanoTime() - begun;
                note(took, other.isValid());
                Thread.sleep(10);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void note(long took, boolean isValid) {
        worstNanos = Math.max(worstNanos, took);
        samples++;
        valid += isValid ? 1 : 0;
    }

    synchronized void during(String what) {
        LoadFigures.print(
                "  %s: worst cycle of another client's lock %.1f ms; another lease of the client valid in %d of %d samples",
                what, worstNanos / 1e6, valid, samples);
        worstNanos = 0;
        samples = 0;
        valid = 0;
    }

    @Override
    public void close() {
        ended = true;
    }
}
