// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.node;

/** The holders of one node, one after another, as each of them sees them. */
interface Holders {
    /** The one that the session knows. */
    HeldNode first();

    /** The one that has the node now, or had it last. */
    HeldNode present();

    /** The present one has ended. */
    void onReleased();

    /** Deletes the node, which has no holder. */
    void giveBack();

    /** The node is gone, or the session that it belongs to. */
    void lose(String reason);

    /** The time of a holder, which may have ended before, is over. */
    void expire(HeldNode holder, String reason);

    /** The node carries requests to give it back, or carries none. */
    void noteRequests(boolean isAsked);
}
