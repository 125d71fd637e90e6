// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/**
 * A thread that holds the shared mode of a lock asked for the exclusive one. It would have to wait for itself, and two
 * such threads for each other, so it is refused at once. Give back the shared mode first, or start with the exclusive
 * one, whose holder may take the shared one too.
 */
public final class LockUpgradeException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes an error.
     *
     * @param message the path, what happened, and what to do
     */
    public LockUpgradeException(String message) {
        super(message);
    }
}
