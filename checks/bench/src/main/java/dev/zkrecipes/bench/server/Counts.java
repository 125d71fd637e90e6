// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.server;

/**
 * A server's counts since it started.
 *
 * @param requests the requests received, except those that only keep a session alive
 * @param events the events sent to watchers
 */
public record Counts(long requests, long events) {
    /** The difference to an earlier reading. */
    public Counts minus(Counts earlier) {
        return new Counts(requests - earlier.requests, events - earlier.events);
    }
}
