// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.faults;

import dev.zkrecipes.bench.contender.LockClient.Turn;
import dev.zkrecipes.bench.contender.Subject;
import java.io.Serializable;
import java.util.Collections;
import java.util.List;

/**
 * A lock held, as its holder saw it. Times are of the machine's one monotonic clock.
 *
 * @param lock the number of the lock
 * @param client the process
 * @param isShared whether others may hold beside it
 * @param token the fencing token
 * @param node the holder's node
 * @param asked when it asked for the lock
 * @param granted when it had been told that it holds
 * @param believed when it told itself that it still does
 * @param released when it began to give it back; 0 if it was killed before
 * @param writes what became of the write to the store that takes any, of that with the token, of the guarded one
 */
record Tenure(
        Subject subject,
        int lock,
        String client,
        boolean isShared,
        long token,
        String node,
        long asked,
        long granted,
        List<Span> believed,
        long released,
        List<Outcome> writes)
        implements Serializable {
    /** What became of a write. */
    enum Outcome {
        /** The holder did not try: it knew that it might not hold the lock, was killed, or only read. */
        HELD_BACK,
        DONE,
        REFUSED,
        /** The answer was lost. */
        UNKNOWN
    }

    static final List<Outcome> NOTHING_WRITTEN = Collections.nCopies(3, Outcome.HELD_BACK);

    /**
     * From one time to another, ends included. Between them no two questions are further apart than {@link
     * #GAP_NANOS}.
     */
    record Span(long from, long to) implements Serializable {
        /** How much of it is later than a time. */
        long after(long time) {
            return Math.max(0, to - Math.max(from, time));
        }
    }

    /** Between two questions that are further apart, the process stood still, or waited for something. */
    static final long GAP_NANOS = 50_000_000;

    /** Adds a time at which the holder believed. */
    static void note(List<Span> believed, long time) {
        int last = believed.size() - 1;
        if (last >= 0 && time - believed.get(last).to <= GAP_NANOS) {
            believed.set(last, new Span(believed.get(last).from, time));
        } else {
            believed.add(new Span(time, time));
        }
    }

    /** One that begins now. */
    static Tenure begun(Subject subject, int lock, String client, Turn turn, long asked) {
        long granted = System.nanoTime();
        return new Tenure(
                subject,
                lock,
                client,
                turn.isShared(),
                turn.token(),
                turn.node(),
                asked,
                granted,
                List.of(),
                0,
                NOTHING_WRITTEN);
    }

    /** This one, as it is known at its end, which is now. */
    Tenure ended(List<Span> spans, List<Outcome> outcomes) {
        return new Tenure(
                subject, lock, client, isShared, token, node, asked, granted, spans, System.nanoTime(), outcomes);
    }

    /** The last time at which it believed. */
    long lastBelieved() {
        return believed.isEmpty() ? Long.MIN_VALUE : believed.get(believed.size() - 1).to;
    }
}
