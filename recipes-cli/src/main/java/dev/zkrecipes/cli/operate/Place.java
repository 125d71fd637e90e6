// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * One node in the queue of a lock. Its texts are as somebody wrote them, not fit for a terminal.
 *
 * @param position its place; 0 is the front
 * @param standing whether it holds
 * @param node its name below the path of the lock
 * @param kind what it asks for
 * @param payload what the kind carries; empty if nothing
 * @param weight how many permits it asks for; 1 where there are none
 * @param data owner and requests to give back
 * @param origin what the server knows of it
 */
record Place(
        int position,
        Standing standing,
        String node,
        String kind,
        String payload,
        int weight,
        NodeData data,
        Origin origin) {

    /**
     * What the server knows of a node.
     *
     * @param readable whether its data could be read; if not, nothing of this is known
     * @param session the session that owns it; 0 if none does
     * @param created when it was made, by the server's clock
     * @param czxid the transaction that made it
     * @param version of its data
     */
    record Origin(boolean readable, long session, Instant created, long czxid, int version) {
        static final Origin UNREADABLE = new Origin(false, 0, Instant.EPOCH, 0, -1);

        /** Whether no session owns it, so that it stays until somebody deletes it. */
        boolean isOrphan() {
            return readable && session == 0;
        }
    }

    /** Its age on this machine's clock; never negative. */
    Duration age(Instant now) {
        Duration age = Duration.between(origin.created(), now);
        return age.isNegative() ? Duration.ZERO : age;
    }

    boolean holds() {
        return standing == Standing.HOLDS;
    }

    List<GiveBackRequest> requests() {
        return data.requests();
    }
}
