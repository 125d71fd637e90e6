// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.Uninterruptibles;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How much is left of a stack where the reserve says that there is enough: in the interpreter, and when all is compiled. */
@Timeout(120)
@Tag("H79")
class StackReserveTest {
    private static final int DIVES = 6;
    private static final int EVERY = 16; // frames; an error at each takes long
    private static final long STACK = 512 * 1024;

    @Test
    void whereThereIsRoomForATask_someFramesFit() {
        check(StackReserve::requireForATask, 10);
    }

    @Test
    void whereThereIsRoomForACall_manyFramesFit() {
        check(StackReserve::requireForACall, 100);
    }

    private static void check(Runnable reserve, int frames) {
        for (int i = 0; i < DIVES; i++) {
            Dive dive = new Dive(reserve);
            Thread diver = new Thread(null, dive::down, "diver", STACK);
            diver.start();
            Uninterruptibles.joinUninterruptibly(diver);
            assertThat(dive.refusals).isPositive();
            assertThat(dive.isAccepted).isTrue();
            assertThat(dive.fitting).as("frames that fit in dive %s", i).isGreaterThanOrEqualTo(frames);
        }
    }

    /** Goes to the end of the stack, asks the reserve on the way back now and then until it accepts, and counts what fits. */
    private static final class Dive {
        private final Runnable reserve;
        private int refusals;
        private boolean isAccepted;
        private int fitting;

        Dive(Runnable reserve) {
            this.reserve = reserve;
        }

        @SuppressWarnings("InfiniteRecursion") // down to the end of the stack
        private int down() {
            int fromEnd;
            try {
                fromEnd = down() + 1;
            } catch (StackOverflowError e) {
                fromEnd = 0;
            }
            if (!isAccepted && fromEnd % EVERY == 0) {
                ask();
            }
            return fromEnd;
        }

        private void ask() {
            try {
                reserve.run();
                isAccepted = true;
            } catch (StackOverflowError e) {
                refusals++;
                return;
            }
            try {
                fit(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
            } catch (StackOverflowError e) {
                // so many fit
            }
        }

        /** A frame of a hundred bytes at least: it keeps its arguments for after the call. */
        @SuppressWarnings("InfiniteRecursion") // to see how many fit
        private long fit(
                long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l) {
            fitting++;
            long below = fit(b, c, d, e, f, g, h, i, j, k, l, a);
            return below + (a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i ^ j ^ k ^ l);
        }
    }
}
