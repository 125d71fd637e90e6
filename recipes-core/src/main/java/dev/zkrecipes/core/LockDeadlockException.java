// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/**
 * The request has waited for itself: its thread holds a lock for which somebody waits who, directly or through others,
 * has what the request asks for. Its node was the youngest of them, or no other one sees the deadlock, so it gives way,
 * see {@link DeadlockPolicy#FAIL}.
 * Close what the thread holds, and begin again. One multi-lock that takes all of the locks together prevents it.
 */
public final class LockDeadlockException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes an error.
     *
     * @param message the path, who waits for whom, and what to do
     */
    public LockDeadlockException(String message) {
        super(message);
    }
}
