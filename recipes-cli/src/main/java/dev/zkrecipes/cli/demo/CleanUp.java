// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CancellationException;

/**
 * What must be undone at the end, last things first: at the end of the demo, or when the JVM is told to end by Ctrl-C
 * or a signal. Thread-safe.
 */
final class CleanUp implements AutoCloseable {
    private final Page page;

    @GuardedBy("this")
    private final Deque<Undo> undos = new ArrayDeque<>();

    @GuardedBy("this")
    private final List<String> failures = new ArrayList<>();

    @GuardedBy("this")
    private boolean closed;

    private volatile boolean interrupted;

    private CleanUp(Page page) {
        this.page = page;
    }

    static CleanUp atExit(Page page) {
        CleanUp cleanUp = new CleanUp(page);
        // Never removed: once closed it does nothing.
        Runtime.getRuntime().addShutdownHook(new Thread(cleanUp::interrupt, "clean-up"));
        return cleanUp;
    }

    /** Makes something. */
    @FunctionalInterface
    interface Maker<T> {
        T make() throws IOException;
    }

    /** Undoes something. */
    @FunctionalInterface
    interface Undo {
        void undo() throws IOException;
    }

    /** Undoes one step. */
    @FunctionalInterface
    interface Unmaker<T> {
        void undo(T made) throws IOException;
    }

    /**
     * Makes something and remembers how to undo it, as one step. Makes nothing once the end has come.
     *
     * @throws CancellationException if the end has come
     */
    synchronized <T> T make(Maker<T> maker, Unmaker<T> unmaker) throws IOException {
        if (closed) {
            throw new CancellationException("the demo is being ended");
        }
        T made = maker.make();
        undos.push(() -> unmaker.undo(made));
        return made;
    }

    /** Whether the end came from outside, so that errors of the demo itself do not count. */
    boolean isInterrupted() {
        return interrupted;
    }

    /** What could not be undone. */
    synchronized List<String> failures() {
        return List.copyOf(failures);
    }

    /** Undoes everything; further calls do nothing. What cannot be undone does not stop the rest. */
    @Override
    public synchronized void close() {
        closed = true;
        while (!undos.isEmpty()) {
            try {
                undos.pop().undo();
            } catch (IOException | UncheckedIOException | IllegalStateException e) {
                failures.add(String.valueOf(e.getMessage()));
            }
        }
    }

    private synchronized void interrupt() {
        if (closed) {
            return;
        }
        interrupted = true;
        page.close(Tone.NOTE, "interrupted: ending all processes, removing all files");
        close();
        failures.forEach(failure -> System.err.println("zklock: " + failure));
    }
}
