// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/** The outcome of asking for a lock with {@link Revoker}. */
public enum RevocationOutcome {
    /** The holder was asked, and then its node was deleted: the holder released the lock, or its session ended. */
    GIVEN_BACK,
    /**
     * The grace period ended and the requester deleted the node, or the answer to the deletion was lost and the node is
     * gone: the holder may not have stopped its work.
     */
    BROKEN,
    /** The node was gone before the holder was known to be asked. */
    GONE_ALREADY
}
