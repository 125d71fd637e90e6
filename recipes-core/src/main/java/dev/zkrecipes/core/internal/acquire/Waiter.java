// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.LockException;

/** A request that waits in the queue of a path. Confined to the engine thread. */
interface Waiter {
    /** The driver grants, by what the view knows. */
    void onTurn();

    /** Our own node is gone: somebody deleted it. */
    void onVanished();

    /** Another node of this session is gone that stood in front of ours. */
    void onOtherGone(String nodePath);

    /** Something has changed, and only a new list tells what that means. */
    void onDoubt();

    /** Runs a part of the request's work; an exception from it fails the request. */
    void guard(Runnable work);

    /** The request cannot be granted. It leaves. */
    void fail(LockException why);
}
