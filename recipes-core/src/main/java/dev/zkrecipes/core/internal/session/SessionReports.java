// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Computes when the leader must have heard of one session. This follows from the order in which the session's server
 * passes messages on.
 *
 * <p>A write that a follower forwards does not advance the leader's clock for the session. Only reports do: the leader
 * pings its followers every half tick, and each follower answers with the sessions from which it has heard since the
 * last ping. Pings and commits reach the follower in one stream. Its reports, and the writes that it forwards, reach
 * the leader in another. So three committed writes in a row prove when the leader has heard of the session:
 *
 * <ol>
 *   <li><b>R</b> was answered, so its server has recorded the session.
 *   <li><b>W1</b> was sent {@linkplain #gap more than half a tick} later. So the leader has sent a ping before it
 *       committed W1, and by the time W1 is answered, the server has answered that ping.
 *   <li><b>W2</b> was sent after W1 had been answered, so the report has reached the leader before W2. As W2 was
 *       committed, the session was alive then, and it lives at least until T after R was sent.
 * </ol>
 *
 * <p>The argument relies only on the leader's ping timer: neither on how long messages take, nor on the pings of the
 * client. A new connection counts as a report, because the leader is asked for the session before the client is
 * admitted. A new leader gives each session the whole of T. Confined to the engine thread.
 */
final class SessionReports {
    /** Of requests that follow each other within less than this part of T, only the first is kept, to save memory. */
    private static final int SPACING = 24;

    private static final Duration LONG_AGO = Duration.ofDays(365);

    private final Stage answered; // requests in the role of R: each counts once it was answered
    private final Stage told; // requests R for which a W1 was answered: the server has reported them to the leader
    private long newest; // when the latest committed write was sent
    private long newestBefore; // the value of newest when the last connection ended
    private long reported;

    /** Creates the reports of a session that is known not to be older than {@code knownSince}. */
    SessionReports(long knownSince) {
        this.answered = new Stage(knownSince);
        this.told = new Stage(knownSince);
        this.newest = knownSince;
        this.newestBefore = knownSince;
        this.reported = knownSince;
    }

    /** Creates the reports of a session that may have existed for any time, and of which nothing is known yet. */
    static SessionReports ofUnknown(long now) {
        return new SessionReports(now - LONG_AGO.toNanos());
    }

    /** Returns half a tick, which is at most a quarter of T, plus a little for a leader whose timer is late. */
    private static long gap(long timeoutNanos) {
        return timeoutNanos / 4 + timeoutNanos / 24;
    }

    void onDisconnected() {
        newestBefore = newest;
    }

    /** Counts the new connection as a report. It came later than anything that was sent on the last connection. */
    void onConnected() {
        reported = later(reported, newestBefore);
    }

    /** Records a committed write whose answer has just come. Call in the order in which the writes were sent. */
    void onCommitted(long sentAt, long answeredAt, long timeoutNanos) {
        reported = later(reported, told.newestAt(sentAt));
        told.add(answeredAt, answered.newestAt(sentAt - gap(timeoutNanos)), timeoutNanos / SPACING);
        answered.add(answeredAt, sentAt, timeoutNanos / SPACING);
        newest = sentAt;
    }

    /** Returns a time at which, or after which, the leader has heard of the session. */
    long reportedAt() {
        return reported;
    }

    private static long later(long one, long other) {
        return one - other >= 0 ? one : other;
    }

    /** Times at which requests were sent. Each begins to count at a later time, when something was answered. */
    private static final class Stage {
        private final Deque<Entry> coming = new ArrayDeque<>();
        private long current; // the newest that counts already
        private long last; // the newest of all

        /** A request that was sent at {@code sentAt}, and counts from the time {@code from} on. */
        private record Entry(long from, long sentAt) {}

        Stage(long current) {
            this.current = current;
            this.last = current;
        }

        void add(long from, long sentAt, long spacing) {
            if (sentAt - last >= spacing) {
                coming.add(new Entry(from, sentAt));
                last = sentAt;
            }
        }

        /** Returns the newest that counts at this time. The times of successive calls must not decrease. */
        long newestAt(long time) {
            while (!coming.isEmpty() && time - coming.element().from() >= 0) {
                current = coming.remove().sentAt();
            }
            return current;
        }
    }
}
