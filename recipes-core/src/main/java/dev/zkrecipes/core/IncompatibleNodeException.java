// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/**
 * The path has a node in the form of a lock node that this lock cannot order itself against: another recipe or another
 * library uses the same path. Granting would mean two holders.
 */
public final class IncompatibleNodeException extends LockRefusedException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes an error.
     *
     * @param message the path, what happened, and what to do
     */
    public IncompatibleNodeException(String message) {
        super(message);
    }
}
