// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/**
 * The {@link ZooKeeperClient} is closed, or the handle that it wraps has ended, or the client has ended itself because
 * of an internal error, which is the cause.
 */
public final class ClientClosedException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an error.
     *
     * @param message the path, what happened, and what to do
     */
    public ClientClosedException(String message) {
        super(message);
    }

    /**
     * Creates an error with a cause.
     *
     * @param message the path, what happened, and what to do
     * @param cause why the client has ended
     */
    public ClientClosedException(String message, Throwable cause) {
        super(message, cause);
    }
}
