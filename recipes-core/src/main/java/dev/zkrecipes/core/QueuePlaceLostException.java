// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/** The place in the queue is lost, and {@link QueueLossPolicy#FAIL} says not to queue again. */
public final class QueuePlaceLostException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an error.
     *
     * @param message the path, what happened, and what to do
     */
    public QueuePlaceLostException(String message) {
        super(message);
    }
}
