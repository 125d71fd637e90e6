// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.server;

/**
 * A server's counts since it started.
 *
 * @param requests that it got, apart from those that only keep a session
 * @param events that it sent to watchers
 */
public record Counts(long requests, long events) {
    /** What was added since an earlier reading. */
    public Counts minus(Counts earlier) {
        return new Counts(requests - earlier.requests, events - earlier.events);
    }
}
