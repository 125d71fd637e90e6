// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import org.jspecify.annotations.Nullable;

/**
 * Holds what was thrown while something was half done, for example at the end of the stack or of memory. The thread
 * that catches it assigns it here before it does anything else: there may be no stack left for a call, not even to
 * log. The engine looks here whenever it wakes, which it does several times in each session time-out, and then ends
 * the client. So a half-finished release cannot leave a lock held by a client that goes on.
 */
public final class LastResort {
    public volatile @Nullable Throwable thrown;
}
