// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Tasks that any thread gives and one thread takes, in the order in which they were given.
 *
 * <p>The newest task points at the one before it, and so on, so one compare-and-set both links a task and shows it.
 * There is no moment between the two at which a thread could die and leave the others a broken chain, as there is in
 * queues that link a task after they have claimed its place.
 */
final class Inbox {

    /** A task and the time at which it was given. */
    static final class Entry {
        private final Runnable task;
        private final long at;
        private boolean isTaken;
        private @Nullable Entry next; // the one given before it in the inbox, the one given after it once taken

        Entry(Runnable task, long at) {
            this.task = task;
            this.at = at;
        }

        /** The task, to be run now. */
        Runnable take() {
            isTaken = true;
            return task;
        }

        boolean isTaken() {
            return isTaken;
        }

        long at() {
            return at;
        }

        @Nullable
        Entry next() {
            return next;
        }
    }

    /** Takes the place of the newest entry, forever. */
    private static final Entry CLOSED = new Entry(() -> {}, 0);

    private final AtomicReference<@Nullable Entry> newest = new AtomicReference<>();

    /** Adds an entry; drops it if the inbox is closed. Any thread. */
    void add(Entry entry) {
        Entry before;
        do {
            before = newest.get();
            if (before == CLOSED) {
                return;
            }
            entry.next = before;
        } while (!newest.compareAndSet(before, entry));
    }

    boolean isEmpty() {
        return newest.get() == null;
    }

    /** Takes all entries out and returns the oldest, which leads to the others. Not after {@link #close}. */
    @Nullable
    Entry takeAll() {
        Entry taken = newest.getAndSet(null);
        Entry after = null;
        while (taken != null) {
            Entry before = taken.next;
            taken.next = after;
            after = taken;
            taken = before;
        }
        return after;
    }

    /** Drops all entries, and all later ones. */
    void close() {
        newest.set(CLOSED);
    }
}
