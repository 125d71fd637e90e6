// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

/**
 * Makes sure that the caller's stack is deep enough for a few calls more. What must happen wholly or not at all asks first:
 * a StackOverflowError then strikes here, before anything has changed, and not half way through.
 */
final class StackReserve {
    /** A compiled frame takes 16 bytes at least, so these are 2 kB at least; what they stand for takes less. */
    private static final int FRAMES = 128;

    private StackReserve() {}

    /** Returns if there is room enough; throws StackOverflowError otherwise. */
    static void require() {
        if (descend(FRAMES) != FRAMES) {
            throw new AssertionError("unreachable"); // the sum is used, so that no compiler leaves it out
        }
    }

    private static int descend(int frames) {
        return frames == 0 ? 0 : descend(frames - 1) + 1;
    }
}
