// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import org.jspecify.annotations.Nullable;

/**
 * No server answered in time, or there is no connection and the call does not wait for one. The call had no effect, or
 * its effect is undone in the background.
 */
public final class LockConnectionException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an error.
     *
     * @param message the path, what happened, and what to do
     */
    public LockConnectionException(String message) {
        super(message);
    }

    /**
     * Creates an error with a cause.
     *
     * @param message the path, what happened, and what to do
     * @param cause what caused it; null if that is not known
     */
    public LockConnectionException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
