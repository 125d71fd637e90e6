// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/**
 * The session has so many nodes in queues that the server could not log its end: the record that deletes a session's
 * nodes names them all, and a record larger than {@code jute.maxbuffer} may keep a server from starting again. Nothing
 * was sent.
 */
public final class SessionFullException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes an error.
     *
     * @param message the path, how many nodes there are, and what to do
     */
    public SessionFullException(String message) {
        super(message);
    }
}
