// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/** The lock was held and is lost: stop writing, close the lease, and acquire afresh if need be. */
public final class LockLostException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes an error.
     *
     * @param message the path, what happened, and what to do
     */
    public LockLostException(String message) {
        super(message);
    }
}
