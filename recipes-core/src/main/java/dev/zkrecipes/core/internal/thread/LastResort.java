// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import org.jspecify.annotations.Nullable;

/**
 * For what is thrown where something stays half done, such as at the end of the stack or of memory. Whoever catches it
 * leaves it here before anything else, by an assignment, as there may be no stack for a call. The engine looks here
 * whenever it wakes, a few times in each session time-out, and ends the client.
 */
public final class LastResort {
    public volatile @Nullable Throwable thrown;
}
