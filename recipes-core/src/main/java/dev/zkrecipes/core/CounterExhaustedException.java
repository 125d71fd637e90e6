// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/**
 * The sequence counter of the lock's path is nearly used up and cannot be reset: a node that is not a lock node
 * lies below the path, the client has no right to recreate the path, or the path is the root. ZooKeeper numbers
 * two billion nodes below a path. After that numbers repeat, and the order of requests would be unknown.
 */
public final class CounterExhaustedException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes an error.
     *
     * @param message the path, what is in the way, and what to do
     */
    public CounterExhaustedException(String message) {
        super(message);
    }
}
