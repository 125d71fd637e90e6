// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/**
 * The request waited for itself: its thread holds a lock for which another request waits that, directly or through
 * others, blocks this one. The node of this request was the youngest of the deadlock, or no other request sees the
 * deadlock, so this one gives way, see {@link DeadlockPolicy#FAIL}. Close what the thread holds, and begin again. One
 * multi-lock that takes all of the locks together prevents the deadlock.
 */
public final class LockDeadlockException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an error.
     *
     * @param message the path, who waits for whom, and what to do
     */
    public LockDeadlockException(String message) {
        super(message);
    }
}
