// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/** What came of asking for a lock with {@link Revoker}. */
public enum RevocationOutcome {
    /** The holder was asked, and then its node went: it gave the lock back, or its session ended. */
    GIVEN_BACK,
    /**
     * The grace was over and the requester deleted the node. Also if the answer to the deletion was lost and the node is
     * gone: the holder may not have stopped what it was doing.
     */
    BROKEN,
    /** The node was gone before the holder was known to be asked. */
    GONE_ALREADY
}
