// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

/**
 * Makes sure that the calling thread has room on its stack for what follows. A thread that reaches the end of its stack
 * in the middle of a change leaves it half done: an element in a queue that nobody removes, a class that can never be
 * initialised again. So it is to find out before anything is begun.
 */
public final class StackReserve {
    private static final int FRAMES = 256;

    private StackReserve() {}

    /**
     * Does nothing if there is room.
     *
     * @throws StackOverflowError if there is not; nothing has been begun
     */
    public static void require() {
        var unused = descend(FRAMES, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
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
