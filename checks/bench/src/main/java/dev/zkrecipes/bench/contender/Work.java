// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.contender;

import java.util.List;
import java.util.stream.IntStream;

/** What is done with locks. {@code size} stands for the number that some of them need. */
public enum Work {
    /** A mutex that nobody else wants; bare: a create and a delete, the least that a lock can cost. */
    MUTEX,
    /** A mutex whose release is sent and not awaited. */
    NOT_AWAITED,
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
    /** A mutex that the thread holds already, {@code size} times in each cycle. */
    REENTRANT,
    /** A queue of {@code size} asynchronous requests. */
    WAITERS,
    /** Two clients that take turns, whose requests are counted. */
    REQUESTS;

    /** Who takes part: the bare client has no re-entrant lock, and Curator no waiters without a thread. */
    public List<Contender> contenders() {
        return switch (this) {
            case WAITERS -> List.of(Contender.OURS);
            case REENTRANT -> List.of(Contender.OURS, Contender.CURATOR);
            default -> List.of(Contender.values());
        };
    }

    /** Paths below a path, by their numbers from 0. */
    static List<String> paths(String path, int count) {
        return IntStream.range(0, count).mapToObj(i -> path + "/" + i).toList();
    }
}
