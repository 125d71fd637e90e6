// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/** The outcome of a request to give a lock back, made with {@link Revoker}. */
public enum RevocationOutcome {
    /** The holder was asked, and then its node was deleted: the holder released the lock, or its session ended. */
    GIVEN_BACK,
    /**
     * The grace period elapsed and the requester deleted the node, or the answer to the deletion was lost and the node
     * no longer exists: the holder may not have stopped its work.
     */
    BROKEN,
    /** The node was already deleted before the holder was known to be asked. */
    GONE_ALREADY
}
