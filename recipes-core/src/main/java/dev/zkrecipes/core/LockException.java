// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import org.jspecify.annotations.Nullable;

/**
 * The base of everything that can go wrong with a lock, apart from bad arguments
 * ({@link IllegalArgumentException}), releasing what is not held ({@link IllegalMonitorStateException}) and
 * interruption ({@link InterruptedException}).
 *
 * <p>Messages name the path, the node where there is one, what happened and what to do.
 */
public class LockException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an error.
     *
     * @param message the path, what happened, and what to do
     */
    public LockException(String message) {
        super(message);
    }

    /**
     * Creates an error with a cause.
     *
     * @param message the path, what happened, and what to do
     * @param cause what caused it; null if that is not known
     */
    public LockException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
