// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/** The driver said that this request can never be granted, or failed. */
public final class LockRefusedException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes an error.
     *
     * @param message the path, what happened, and what to do
     */
    public LockRefusedException(String message) {
        super(message);
    }

    /**
     * Makes an error that another one caused.
     *
     * @param message the path, what happened, and what to do
     * @param cause what caused it
     */
    public LockRefusedException(String message, Throwable cause) {
        super(message, cause);
    }
}
