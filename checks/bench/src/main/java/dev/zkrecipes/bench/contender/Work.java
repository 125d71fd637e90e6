// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.contender;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/** The kinds of work that are measured. {@code size} stands for the number that some of them need. */
public enum Work {
    /** A mutex that nobody else wants; bare: a create and a delete, the least that a lock can cost. */
    MUTEX,
    /** A mutex on a path that is new, such as one for each order; bare: the path and the node in one transaction. */
    NEW_PATH,
    /** A mutex with the option {@code releaseInBackground}. */
    BACKGROUND,
    /** All permits of a semaphore of {@code size}, at once. */
    SEMAPHORE,
    /** A multi-lock of {@code size} paths. */
    MULTI_LOCK,
    /** A mutex that others want, too; bare: the textbook lock. */
    CONTENDED,
    /** A mutex that is passed on inside the process, at most {@code size} times in a row. */
    HANDOFF,
    /** A mutex that the process keeps while nobody else wants it, {@code size} times in each cycle. */
    KEPT,
    /** A mutex that the thread holds already, {@code size} times in each cycle. */
    REENTRANT,
    /** A queue of {@code size} asynchronous requests. */
    WAITERS;

    /**
     * Returns who takes part. The bare client has no multi-lock, no re-entrant lock and no release in background.
     * Neither the bare client nor Curator has waiters without a thread or a lock that stays in the process.
     */
    public List<Contender> contenders() {
        return switch (this) {
            case WAITERS, KEPT -> List.of(Contender.OURS);
            case BACKGROUND, MULTI_LOCK, REENTRANT -> List.of(Contender.OURS, Contender.CURATOR);
            default -> List.of(Contender.values());
        };
    }

    /** Whether a cycle consists of as many acquires as its size says, because each of them is too short to be timed. */
    public boolean isRepeated() {
        return this == REENTRANT || this == KEPT;
    }

    /** Returns a supplier of paths below a path, each of which is used once. */
    static Supplier<String> newPaths(String path) {
        AtomicLong used = new AtomicLong();
        return () -> path + "/" + used.incrementAndGet();
    }

    /** Returns paths below a path, named by their numbers from 0. */
    static List<String> paths(String path, int count) {
        return IntStream.range(0, count).mapToObj(i -> path + "/" + i).toList();
    }
}
