// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/**
 * The sequence counter of the lock's path is nearly used up, so this request was not granted. ZooKeeper numbers two
 * billion nodes below a path. After that numbers repeat, and the order of requests would be unknown.
 *
 * <p>Most often this passes. The path resets itself as soon as nobody holds the lock or waits for it; a request that
 * finds nobody else resets it and is granted. Release what is held for long, and try again later. The message says
 * if the path cannot be reset: a node that is not a lock node lies below it, the client has no right to recreate it, or
 * it is the root.
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
