// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import dev.zkrecipes.core.internal.handle.PauseDetector;

/**
 * What committed writes have proven about a session. Only a committed write proves that the ensemble, and not just one
 * server, still holds the session. For how long the ensemble will hold it depends on the leader's clock for the
 * session. Two facts are known about that clock, and the one that gives the later time counts:
 *
 * <ul>
 *   <li>By the latest committed write, the leader must have heard of the session at a certain time or later, see
 *       {@link SessionReports}. The session lives for at least T from that time on.
 *   <li>If a session has sent nothing for long, it is known only that its client pings every third of T, and that its
 *       server reports each ping within half a tick, which is at most a quarter of T. So a write proves the part of T
 *       that is left after these two. If the process was paused, the write proves less, see {@link PauseDetector}.
 * </ul>
 *
 * <p>Both keep a margin of T/24 for inexact clocks and servers. A disconnect voids the proof until a write that is sent
 * after it is committed. Immutable.
 *
 * @param sentAt when the latest committed write was sent
 * @param asOf the time that counts in its place if nothing is known of reports: {@code sentAt} or an earlier time
 * @param reportedAt a time at which, or after which, the leader has heard of the session
 * @param connected false from a disconnect until a write that was sent on a later connection was committed
 */
record SessionProof(long sentAt, long asOf, long reportedAt, boolean connected) {

    /** The proof for a session without a committed write. T is counted from now on. */
    static SessionProof ofNothing(long now, long reportedAt) {
        return new SessionProof(now, now, reportedAt, false);
    }

    /** Returns what remains of the proof when the connection is lost. */
    SessionProof inNoConnection() {
        return new SessionProof(sentAt, asOf, reportedAt, false);
    }

    /**
     * Returns the proof with one more committed write. If that write proves less, what was proven before still counts.
     */
    SessionProof with(long writeSentAt, long writeAsOf, long leaderHeardAt, boolean isConnected) {
        return new SessionProof(writeSentAt, writeAsOf - asOf > 0 ? writeAsOf : asOf, leaderHeardAt, isConnected);
    }

    /** Returns for how long the session is still proven to be alive; 0 or less if it is not. */
    long remaining(long timeout, long now) {
        long margin = timeout / 24;
        long byReports = reportedAt + timeout - margin;
        long byPings = asOf + timeout - timeout / 3 - timeout / 4 - margin;
        return connected ? Math.max(byReports - now, byPings - now) : 0;
    }

    /**
     * Whether the session may have ended at the server: no write that was sent within the last time-out was committed.
     */
    boolean isOutlived(long timeout, long now) {
        return now - sentAt >= timeout;
    }
}
