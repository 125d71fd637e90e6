// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.scale;

import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.contender.Work;
import dev.zkrecipes.bench.runner.Store;

/**
 * The figures of a turn: for some seconds, sessions take and release locks. Requests, bytes and processor times are
 * those of one lock.
 *
 * @param sessions how many take locks, each on a path of its own
 * @param percent the rate that a schedule asks for, in percent of the greatest rate; 100 if there is no schedule, and
 *     each session takes its next lock as soon as it has released the one before
 * @param offered locks a second by the schedule; 0 if there was none
 * @param rate locks a second that were granted
 * @param medianMillis the median time to acquire a lock, from when it was due
 * @param slowMillis the time to acquire a lock that 99 % of the acquires did not exceed
 * @param leaderMicros processor time of the leader, or of the only server
 * @param clientsMicros processor time of all clients
 * @param load the load of the machine after the turn
 */
record Reading(
        Series series,
        int sessions,
        int percent,
        double offered,
        double rate,
        double medianMillis,
        double slowMillis,
        double requests,
        double bytes,
        double leaderMicros,
        double clientsMicros,
        double load) {
    private static final double KEPT_UP = 0.97;

    boolean isKeptUp() {
        return rate >= KEPT_UP * offered;
    }

    /**
     * What stays the same from turn to turn.
     *
     * @param servers how many; 1 or 3
     * @param store where they keep their logs
     * @param contender whose locks are taken
     * @param work MUTEX on the path of each session, or NEW_PATH
     */
    record Series(int servers, Store store, Contender contender, Work work) {
        String place() {
            return servers + (servers == 1 ? " server" : " servers") + ", log " + store.place()
                    + (work == Work.NEW_PATH ? ", each path used once" : "");
        }

        @Override
        public String toString() {
            return place() + ", " + contender.title();
        }
    }
}
