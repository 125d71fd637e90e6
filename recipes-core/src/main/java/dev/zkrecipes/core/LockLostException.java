// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/** The lock was held and is lost: stop writing, close the lease, and acquire the lock again if necessary. */
public final class LockLostException extends LockException {
    private static final long serialVersionUID = 1L;

    /** Why the lock is lost, as a part of a sentence. */
    private final String reason;

    /**
     * Creates an error that has no shorter reason than its message.
     *
     * @param message the path, what happened, and what to do
     */
    public LockLostException(String message) {
        this(message, message);
    }

    /**
     * Creates an error.
     *
     * @param message the path, what happened, and what to do
     * @param reason why the lock is lost
     */
    public LockLostException(String message, String reason) {
        super(message);
        this.reason = reason;
    }

    /**
     * {@return why the lock is lost, as a part of a sentence, such as "its node was deleted by somebody else"; the
     * whole message if the error was created without a reason}
     */
    public String reason() {
        return reason;
    }
}
