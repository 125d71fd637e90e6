// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.faults;

import dev.zkrecipes.bench.contender.LockClient.Turn;
import dev.zkrecipes.bench.contender.Subject;
import java.io.Serializable;
import java.util.Collections;
import java.util.List;

/**
 * A hold of a lock, as its holder saw it. Times are those of the monotonic clock, which all processes of the machine
 * share.
 *
 * @param lock the number of the lock
 * @param client the name of the holder's process
 * @param isShared whether others may hold the lock at the same time
 * @param token the fencing token
 * @param node the path of the holder's node
 * @param asked when the holder requested the lock
 * @param granted when the holder learned that it holds the lock
 * @param believed when the holder's own check said that it still holds the lock
 * @param released when the holder began to give the lock back; 0 if its process was killed before
 * @param writes what became of three writes: to the store that accepts any, to the store that checks tokens, and of the
 *     guarded one
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
     * A span of time, ends included, in which the holder believed that it holds the lock. No two checks in it are
     * further apart than {@link #GAP_NANOS}.
     */
    record Span(long from, long to) implements Serializable {
        /** Returns how much of this span is later than a time. */
        long after(long time) {
            return Math.max(0, to - Math.max(from, time));
        }
    }

    /**
     * The longest time between two checks of one span. If two checks are further apart, the process stood still, or
     * waited for something.
     */
    static final long GAP_NANOS = 50_000_000;

    /** Adds a time at which the holder believed that it holds the lock, to the last span or as a new one. */
    static void note(List<Span> believed, long time) {
        int last = believed.size() - 1;
        if (last >= 0 && time - believed.get(last).to <= GAP_NANOS) {
            believed.set(last, new Span(believed.get(last).from, time));
        } else {
            believed.add(new Span(time, time));
        }
    }

    /** Returns a hold that begins now. */
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

    /** Returns this hold as it is known at its end, which is now. */
    Tenure ended(List<Span> spans, List<Outcome> outcomes) {
        return new Tenure(
                subject, lock, client, isShared, token, node, asked, granted, spans, System.nanoTime(), outcomes);
    }

    /**
     * Returns the last time at which the holder believed that it holds the lock; {@link Long#MIN_VALUE} if it never
     * did.
     */
    long lastBelieved() {
        return believed.isEmpty() ? Long.MIN_VALUE : believed.get(believed.size() - 1).to;
    }
}
