// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.start;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;

/**
 * Standard error that does not hold up who writes to it. A terminal on which somebody has typed Ctrl-S, or a full pipe
 * that nobody reads, must not keep a lock or a command that is to end. What is not written within a second is written
 * in the background.
 */
public final class StandardError extends OutputStream {
    /** As much as waits to be written; more is dropped. */
    static final int MOST_BYTES = 1 << 20;

    private static final Duration PATIENCE = Duration.ofSeconds(1);
    private static final Duration LAST_PATIENCE = Duration.ofSeconds(5);

    private final OutputStream target;
    private final Deque<byte[]> waiting = new ArrayDeque<>();
    private int unwritten;
    private boolean late;
    private boolean started;

    StandardError(OutputStream target) {
        this.target = target;
    }

    /**
     * Takes the place of {@code System.err}.
     *
     * @return what is {@link #finish finished} at the end
     */
    public static StandardError install() {
        StandardError error = new StandardError(System.err);
        System.setErr(new PrintStream(error, true, Charset.defaultCharset()));
        return error;
    }

    @Override
    public void write(int b) {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public synchronized void write(byte[] bytes, int offset, int length) {
        if (length == 0 || unwritten + length > MOST_BYTES) {
            return;
        }
        waiting.add(Arrays.copyOfRange(bytes, offset, offset + length));
        unwritten += length;
        if (!started) {
            started = true;
            Thread writer = new Thread(this::writeAll, "standard error");
            writer.setDaemon(true);
            writer.start();
        }
        notifyAll();
        if (!late) {
            late = !awaitWritten(PATIENCE);
        }
    }

    /** Waits a few seconds until everything is written. Call it before the JVM ends. */
    public void finish() {
        awaitWritten(LAST_PATIENCE);
    }

    private synchronized boolean awaitWritten(Duration limit) {
        long deadline = System.nanoTime() + limit.toNanos();
        boolean interrupted = false;
        for (long left = limit.toMillis(); unwritten > 0 && left > 0; ) {
            try {
                wait(left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
            left = (deadline - System.nanoTime()) / 1_000_000;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return unwritten == 0;
    }

    private void writeAll() {
        try {
            while (true) {
                byte[] next = next();
                try {
                    target.write(next);
                    target.flush();
                } catch (IOException e) {
                    // Nobody reads any more.
                }
                written(next.length);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized byte[] next() throws InterruptedException {
        while (waiting.isEmpty()) {
            wait();
        }
        return waiting.remove();
    }

    private synchronized void written(int length) {
        unwritten -= length;
        if (unwritten == 0) {
            late = false;
            notifyAll();
        }
    }
}
