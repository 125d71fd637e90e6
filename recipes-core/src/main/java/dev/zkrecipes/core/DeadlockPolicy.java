// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/** What a waiting acquire does when it is proven to wait for itself, see {@link Deadlock}. */
public enum DeadlockPolicy {
    /** Continues to wait until its time limit has elapsed or another request gives way. The log warns once a minute. */
    WAIT,
    /**
     * Fails with {@link LockDeadlockException} if its node is the youngest of the deadlock. So only one request gives
     * way, provided that all of them have this policy. A request for several locks also fails if it keeps another
     * request waiting by its place in the queue of one of them: its node does not name that place, so only the request
     * itself sees the deadlock.
     */
    FAIL
}
