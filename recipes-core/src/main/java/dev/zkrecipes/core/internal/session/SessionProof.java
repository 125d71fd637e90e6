// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import dev.zkrecipes.core.internal.handle.PauseDetector;

/**
 * What committed writes have proven of a session; nothing else proves that the ensemble, and not just one server, still
 * holds it. How long it does is up to the leader's clock, of which two things are known. The later time counts:
 *
 * <ul>
 *   <li>what the leader must have heard by the last committed write, see {@link SessionReports}: the session lives for
 *       T from then on;
 *   <li>of a session that has sent nothing for long, only that its client pings every third of T, and that its server
 *       reports that within half a tick, a quarter of T at most: so a write proves the rest of T. A stop of the process
 *       makes it prove less, see {@link PauseDetector}.
 * </ul>
 *
 * <p>Both leave a 24th of T for clocks and servers that are not exact. A disconnect voids the proof until a write is
 * sent after it and committed.
 *
 * @param sentAt of the last committed write
 * @param asOf what that counts as, if nothing is known of reports: the same, or earlier
 * @param reportedAt when the leader had heard of the session, or later
 * @param connected whether the connection has stood since
 */
record SessionProof(long sentAt, long asOf, long reportedAt, boolean connected) {

    static SessionProof ofNothing(long now, long reportedAt) {
        return new SessionProof(now, now, reportedAt, false);
    }

    SessionProof inNoConnection() {
        return new SessionProof(sentAt, asOf, reportedAt, false);
    }

    /** The proof with one more committed write. What was proven before still is, if this one proves less. */
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

    boolean isOutlived(long timeout, long now) {
        return now - sentAt >= timeout;
    }
}
