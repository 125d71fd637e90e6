// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/**
 * The sequence counter of the lock's path is nearly used up and cannot be started anew: something that is no lock node
 * lies below the path, the client has not the rights to make the path again, or the path is the root. ZooKeeper numbers
 * two thousand million nodes below a path; after that numbers repeat, and nobody could be told who came first.
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
