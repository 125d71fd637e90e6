// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.semaphore;

import com.google.common.primitives.Ints;
import java.util.Optional;

/** Numbers of permits, as they are written in node names and data: 1 to 2147483647, decimal, without leading zeros. */
final class Permits {
    private Permits() {}

    /** Returns the number. Throws an IllegalArgumentException if it is less than 1. */
    static int check(int permits) {
        if (permits < 1) {
            throw new IllegalArgumentException(permits + " permits: must be at least 1");
        }
        return permits;
    }

    /** Returns the limit of a semaphore. Throws an IllegalArgumentException if it is less than 1. */
    static int checkLimit(String path, int maxLeases) {
        if (maxLeases < 1) {
            throw new IllegalArgumentException("a limit of " + maxLeases + " for the semaphore " + path
                    + ": must be at least 1; nobody could ever hold it");
        }
        return maxLeases;
    }

    /** Returns the number; empty if the text is not a number of permits. */
    static Optional<Integer> parse(String text) {
        Integer number = Ints.tryParse(text);
        return number != null && number >= 1 && text.equals(number.toString()) ? Optional.of(number) : Optional.empty();
    }
}
