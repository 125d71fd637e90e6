// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import dev.zkrecipes.core.internal.handle.PauseDetector;

/**
 * What committed writes have proven of a session. Only a committed write proves that the ensemble, and not just one
 * server, still holds the session. How long the ensemble goes on holding it depends on the leader's clock for the
 * session. Two things are known of that clock, and the one that gives the later time counts:
 *
 * <ul>
 *   <li>By the last committed write, the leader must have heard of the session at a certain time or later, see
 *       {@link SessionReports}. The session lives for T from that time on, at least.
 *   <li>Of a session that has sent nothing for long, it is only known that its client pings every third of T, and
 *       that its server reports each ping within half a tick, which is a quarter of T at most. So a write proves what
 *       is left of T after these two. If the process was stopped, the write proves less, see {@link PauseDetector}.
 * </ul>
 *
 * <p>Both leave a margin of T/24 for clocks and servers that are not exact. A disconnect voids the proof until a
 * write that is sent after it was committed. Immutable.
 *
 * @param sentAt when the last committed write was sent
 * @param asOf the time that counts in its place if nothing is known of reports: the same, or an earlier one
 * @param reportedAt a time: the leader has heard of the session then, or later
 * @param connected whether the connection has stood since
 */
record SessionProof(long sentAt, long asOf, long reportedAt, boolean connected) {

    /** Of a session without a committed write. T is counted from now on. */
    static SessionProof ofNothing(long now, long reportedAt) {
        return new SessionProof(now, now, reportedAt, false);
    }

    /** What remains of the proof when the connection is lost. */
    SessionProof inNoConnection() {
        return new SessionProof(sentAt, asOf, reportedAt, false);
    }

    /** The proof with one more committed write. If that write proves less, what was proven before still counts. */
    SessionProof with(long writeSentAt, long writeAsOf, long leaderHeardAt, boolean isConnected) {
        return new SessionProof(writeSentAt, writeAsOf - asOf > 0 ? writeAsOf : asOf, leaderHeardAt, isConnected);
    }

    /** How long the session is still proven to live; 0 or less if it is not. */
    long remaining(long timeout, long now) {
        long margin = timeout / 24;
        long byReports = reportedAt + timeout - margin;
        long byPings = asOf + timeout - timeout / 3 - timeout / 4 - margin;
        return connected ? Math.max(byReports - now, byPings - now) : 0;
    }

    /** Whether the session may have ended at the server: no write that was sent within a time-out was committed. */
    boolean isOutlived(long timeout, long now) {
        return now - sentAt >= timeout;
    }
}
