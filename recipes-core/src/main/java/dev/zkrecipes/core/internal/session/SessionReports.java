// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * When the leader must have heard of one session. That follows from the order in which the session's server passes
 * messages on.
 *
 * <p>A write that a follower forwards does not move the leader's clock for the session. That clock is moved by
 * reports: the leader pings its followers every half tick, and each follower answers with the sessions from which it
 * has heard since the last ping. Pings and commits come to the follower in one stream. Its reports, and the writes
 * that it forwards, go to the leader in another. So three committed writes in a row prove when the leader has heard
 * of the session:
 *
 * <ol>
 *   <li><b>R</b> was answered, so its server has noted the session.
 *   <li><b>W1</b> was sent {@linkplain #gap more than half a tick} later. So the leader has sent a ping before it
 *       committed W1, and by the time W1 is answered, the server has answered that ping.
 *   <li><b>W2</b> was sent after W1 had been answered, so the report has reached the leader before W2. As W2 was
 *       committed, the session was alive then, and it lives at least until T after R was sent.
 * </ol>
 *
 * <p>The argument relies on nothing but the leader's ping timer: neither on how long messages take, nor on the pings
 * of the client. A new connection counts as a report, because the leader is asked for the session before the client
 * is let in. A new leader gives each session the whole of T. Confined to the engine thread.
 */
final class SessionReports {
    /** Of requests that follow each other by less than this part of T, only the first is kept, to save memory. */
    private static final int SPACING = 24;

    private static final Duration LONG_AGO = Duration.ofDays(365);

    private final Stage answered; // requests in the role of R: each counts once it was answered
    private final Stage told; // requests R for which a W1 was answered: the server has told the leader of them
    private long newest; // when the newest committed write was sent
    private long newestBefore; // what that was when the last connection ended
    private long reported;

    /** The session is known not to be older than that. */
    SessionReports(long knownSince) {
        this.answered = new Stage(knownSince);
        this.told = new Stage(knownSince);
        this.newest = knownSince;
        this.newestBefore = knownSince;
        this.reported = knownSince;
    }

    /** The session may have existed for any time, and nothing is known of it yet. */
    static SessionReports ofUnknown(long now) {
        return new SessionReports(now - LONG_AGO.toNanos());
    }

    /** Half a tick, which is a quarter of T at most, and a little more for a leader whose timer is late. */
    private static long gap(long timeoutNanos) {
        return timeoutNanos / 4 + timeoutNanos / 24;
    }

    void onDisconnected() {
        newestBefore = newest;
    }

    /** A new connection is a report, and it comes later than anything that was sent in the last connection. */
    void onConnected() {
        reported = later(reported, newestBefore);
    }

    /** A write was committed, and its answer has just come. To be called in the order in which writes were sent. */
    void onCommitted(long sentAt, long answeredAt, long timeoutNanos) {
        reported = later(reported, told.newestAt(sentAt));
        told.add(answeredAt, answered.newestAt(sentAt - gap(timeoutNanos)), timeoutNanos / SPACING);
        answered.add(answeredAt, sentAt, timeoutNanos / SPACING);
        newest = sentAt;
    }

    /** A time: the leader has heard of the session then, or later. */
    long reportedAt() {
        return reported;
    }

    private static long later(long one, long other) {
        return one - other >= 0 ? one : other;
    }

    /** Times at which requests were sent. Each begins to count at a later time: when something was answered. */
    private static final class Stage {
        private final Deque<Entry> coming = new ArrayDeque<>();
        private long current; // the newest that counts already
        private long last; // the newest of all

        /** A request that was sent at one time, and counts from another. */
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

        /** The newest that counts at this time. The time of each call is no earlier than that of the call before. */
        long newestAt(long time) {
            while (!coming.isEmpty() && time - coming.element().from() >= 0) {
                current = coming.remove().sentAt();
            }
            return current;
        }
    }
}
