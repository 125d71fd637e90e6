// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

/**
 * Makes sure that the calling thread has room on its stack for what follows. A thread that reaches the end of its stack
 * in the middle of a change leaves it half done: an element in a queue that nobody removes, a class that can never be
 * initialised again. So that is checked before anything begins.
 *
 * <p>The check calls a method so deep that its frames take up the room. The method keeps 80 values across the call, in
 * 80 slots of its frame. With them a frame takes 670 bytes compiled and 1,400 in the interpreter, on x86-64. Every
 * compiled frame has the slots, but only the first one fills them: to have a large frame costs nothing, to write to it
 * does.
 */
public final class StackReserve {
    private static final int FRAMES_FOR_A_TASK = 6; // 4 kB at least

    private static final int FRAMES_FOR_A_CALL = 60; // 40 kB at least

    /**
     * Always 0. It is volatile so that each read is a value of its own, which must be read before the call and kept. It
     * has no initialiser: one that fails at the end of a stack would never run again.
     */
    private static volatile long opaque;

    private StackReserve() {}

    /**
     * Does nothing if there is room to hand a task to the engine.
     *
     * @throws StackOverflowError if there is not; nothing has been begun
     */
    public static void requireForATask() {
        require(FRAMES_FOR_A_TASK);
    }

    /**
     * Does nothing if there is room for a whole call of the API.
     *
     * @throws StackOverflowError if there is not; nothing has been begun
     */
    public static void requireForACall() {
        require(FRAMES_FOR_A_CALL);
    }

    private static void require(int frames) {
        if (descend(frames, true) != frames) {
            throw new AssertionError("unreachable"); // the sum is used, so that no compiler leaves it out
        }
    }

    /**
     * The first frame is the one that fills its slots, so that a compiler sees them used even if no descent succeeds.
     */
    private static long descend(int frames, boolean isFirst) {
        if (frames == 0) {
            return 0;
        }
        if (!isFirst) {
            return descend(frames - 1, false) + 1;
        }
        long a0 = opaque, a1 = opaque, a2 = opaque, a3 = opaque, a4 = opaque, a5 = opaque, a6 = opaque, a7 = opaque;
        long b0 = opaque, b1 = opaque, b2 = opaque, b3 = opaque, b4 = opaque, b5 = opaque, b6 = opaque, b7 = opaque;
        long c0 = opaque, c1 = opaque, c2 = opaque, c3 = opaque, c4 = opaque, c5 = opaque, c6 = opaque, c7 = opaque;
        long d0 = opaque, d1 = opaque, d2 = opaque, d3 = opaque, d4 = opaque, d5 = opaque, d6 = opaque, d7 = opaque;
        long e0 = opaque, e1 = opaque, e2 = opaque, e3 = opaque, e4 = opaque, e5 = opaque, e6 = opaque, e7 = opaque;
        long f0 = opaque, f1 = opaque, f2 = opaque, f3 = opaque, f4 = opaque, f5 = opaque, f6 = opaque, f7 = opaque;
        long g0 = opaque, g1 = opaque, g2 = opaque, g3 = opaque, g4 = opaque, g5 = opaque, g6 = opaque, g7 = opaque;
        long h0 = opaque, h1 = opaque, h2 = opaque, h3 = opaque, h4 = opaque, h5 = opaque, h6 = opaque, h7 = opaque;
        long i0 = opaque, i1 = opaque, i2 = opaque, i3 = opaque, i4 = opaque, i5 = opaque, i6 = opaque, i7 = opaque;
        long j0 = opaque, j1 = opaque, j2 = opaque, j3 = opaque, j4 = opaque, j5 = opaque, j6 = opaque, j7 = opaque;
        long sum = descend(frames - 1, false) + 1;
        sum = sum ^ a0 ^ a1 ^ a2 ^ a3 ^ a4 ^ a5 ^ a6 ^ a7;
        sum = sum ^ b0 ^ b1 ^ b2 ^ b3 ^ b4 ^ b5 ^ b6 ^ b7;
        sum = sum ^ c0 ^ c1 ^ c2 ^ c3 ^ c4 ^ c5 ^ c6 ^ c7;
        sum = sum ^ d0 ^ d1 ^ d2 ^ d3 ^ d4 ^ d5 ^ d6 ^ d7;
        sum = sum ^ e0 ^ e1 ^ e2 ^ e3 ^ e4 ^ e5 ^ e6 ^ e7;
        sum = sum ^ f0 ^ f1 ^ f2 ^ f3 ^ f4 ^ f5 ^ f6 ^ f7;
        sum = sum ^ g0 ^ g1 ^ g2 ^ g3 ^ g4 ^ g5 ^ g6 ^ g7;
        sum = sum ^ h0 ^ h1 ^ h2 ^ h3 ^ h4 ^ h5 ^ h6 ^ h7;
        sum = sum ^ i0 ^ i1 ^ i2 ^ i3 ^ i4 ^ i5 ^ i6 ^ i7;
        sum = sum ^ j0 ^ j1 ^ j2 ^ j3 ^ j4 ^ j5 ^ j6 ^ j7;
        return sum;
    }
}
