// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * What the leader must have heard of one session, by the order in which its server passes things on.
 *
 * <p>The leader's clock for a session is not moved by the writes that a follower forwards. The leader pings its
 * followers every half tick, and each answers with the sessions that it has heard of since. Pings and commits come to
 * the follower in one stream; its reports and the writes that it forwards go to the leader in another. So three
 * committed writes in a row prove when the leader has heard of the session:
 *
 * <ol>
 *   <li><b>R</b> was answered: its server has noted the session.
 *   <li><b>W1</b> was sent {@link #gap more than half a tick} later: before the leader committed it, the leader has
 *       sent a ping. By the time W1 is answered, the server has answered that ping.
 *   <li><b>W2</b> was sent when W1 had been answered: the report reached the leader before it. As W2 was committed, the
 *       session was alive then, and lives until T after R was sent.
 * </ol>
 *
 * <p>Only the leader's own ping timer is relied on, not how long anything is under way, nor what the client pings. A
 * new connection is a report too: the leader is asked for the session before the client is let in. A new leader gives
 * each session the whole of T. Confined to the engine thread.
 */
final class SessionReports {
    /** Requests that follow each other by less than this part of T are not all kept. */
    private static final int SPACING = 24;

    private static final Duration LONG_AGO = Duration.ofDays(365);

    private final Stage answered;
    private final Stage told;
    private long newest;
    private long newestBefore;
    private long reported;

    SessionReports(long knownSince) {
        this.answered = new Stage(knownSince);
        this.told = new Stage(knownSince);
        this.newest = knownSince;
        this.newestBefore = knownSince;
        this.reported = knownSince;
    }

    static SessionReports ofUnknown(long now) {
        return new SessionReports(now - LONG_AGO.toNanos());
    }

    /** A part of T, which has at least two ticks: half a tick, and something for a leader whose timer is late. */
    private static long gap(long timeoutNanos) {
        return timeoutNanos / 4 + timeoutNanos / 24;
    }

    void onDisconnected() {
        newestBefore = newest;
    }

    void onConnected() {
        reported = later(reported, newestBefore);
    }

    /** A write was committed, whose answer has just come; to be told in the order in which they were sent. */
    void onCommitted(long sentAt, long answeredAt, long timeoutNanos) {
        reported = later(reported, told.newestAt(sentAt));
        told.add(answeredAt, answered.newestAt(sentAt - gap(timeoutNanos)), timeoutNanos / SPACING);
        answered.add(answeredAt, sentAt, timeoutNanos / SPACING);
        newest = sentAt;
    }

    /** The leader has heard of the session at that time, or later. */
    long reportedAt() {
        return reported;
    }

    private static long later(long one, long other) {
        return one - other >= 0 ? one : other;
    }

    /** When requests were sent, and since when each counts. */
    private static final class Stage {
        private final Deque<Entry> coming = new ArrayDeque<>();
        private long current;
        private long last;

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

        /** The newest that counts at that time, which is never before that of the last call. */
        long newestAt(long time) {
            while (!coming.isEmpty() && time - coming.element().from() >= 0) {
                current = coming.remove().sentAt();
            }
            return current;
        }
    }
}
