// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import org.jspecify.annotations.Nullable;

/** ZooKeeper refused the client the right to do what the lock needs, or refused its credentials. */
public final class LockAccessException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an error.
     *
     * @param message the path, what happened, and what to do
     */
    public LockAccessException(String message) {
        super(message);
    }

    /**
     * Creates an error with a cause.
     *
     * @param message the path, what happened, and what to do
     * @param cause what caused it; null if that is not known
     */
    public LockAccessException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
