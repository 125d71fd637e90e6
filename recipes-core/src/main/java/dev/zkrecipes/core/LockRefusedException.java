// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/**
 * The request can never be granted: the driver refuses it or failed, the lock is configured differently elsewhere,
 * another kind of lock uses the path ({@link IncompatibleNodeException}), or the calling thread would wait for itself,
 * for example if it holds the shared mode of a lock and requests the exclusive one.
 */
public sealed class LockRefusedException extends LockException permits IncompatibleNodeException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an error.
     *
     * @param message the path, what happened, and what to do
     */
    public LockRefusedException(String message) {
        super(message);
    }

    /**
     * Creates an error with a cause.
     *
     * @param message the path, what happened, and what to do
     * @param cause what caused it
     */
    public LockRefusedException(String message, Throwable cause) {
        super(message, cause);
    }
}
