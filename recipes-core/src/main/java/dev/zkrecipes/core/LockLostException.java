// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/** The lock was held and is lost: stop writing, close the lease, and acquire afresh if need be. */
public final class LockLostException extends LockException {
    private static final long serialVersionUID = 1L;

    /** Why, without the sentence around it. */
    private final String reason;

    /**
     * Makes an error that has no shorter reason than its message.
     *
     * @param message the path, what happened, and what to do
     */
    public LockLostException(String message) {
        this(message, message);
    }

    /**
     * Makes an error.
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
     * whole message if whoever made the error gave no reason}
     */
    public String reason() {
        return reason;
    }
}
