// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

/**
 * Makes sure that the calling thread has room on its stack for what follows. A thread that reaches the end of its stack
 * in the middle of a change leaves it half done: an element in a queue that nobody removes, a class that can never be
 * initialised again. So that is checked before anything begins.
 */
public final class StackReserve {
    /**
     * A frame that holds nothing takes 16 bytes at least when it is compiled: 2 kB, and a task needs less to be handed
     * over.
     */
    private static final int SMALL_FRAMES = 128;

    private static final int LARGE_FRAMES = 256;

    private StackReserve() {}

    /**
     * Does nothing if there is room to hand a task to the engine.
     *
     * @throws StackOverflowError if there is not; nothing has been begun
     */
    public static void requireForATask() {
        if (descend(SMALL_FRAMES) != SMALL_FRAMES) {
            throw new AssertionError("unreachable"); // the sum is used, so that no compiler leaves it out
        }
    }

    private static int descend(int frames) {
        return frames == 0 ? 0 : descend(frames - 1) + 1;
    }

    /**
     * Does nothing if there is room for a whole call of the API.
     *
     * @throws StackOverflowError if there is not; nothing has been begun
     */
    public static void requireForACall() {
        var unused = descend(LARGE_FRAMES, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
    }

    /** Each frame keeps its arguments for after the call, also when it is compiled: that is what makes it large. */
    private static long descend(
            int left, long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l) {
        if (left == 0) {
            return a;
        }
        long below = descend(left - 1, b, c, d, e, f, g, h, i, j, k, l, a);
        return below + (a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i ^ j ^ k ^ l);
    }
}
