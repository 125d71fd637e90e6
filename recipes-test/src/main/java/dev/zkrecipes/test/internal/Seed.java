// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.internal;

import java.util.Random;

/**
 * Where the chances of a random test come from: printed, and given back to it with {@code -Dzkrecipes.seed=...}.
 *
 * @param value the seed
 */
public record Seed(long value) {

    /**
     * Draws a seed, or takes the one that was given, and prints it.
     *
     * @param test the name to print beside it
     * @return the seed
     */
    public static Seed forTest(String test) {
        Seed seed = new Seed(Long.getLong("zkrecipes.seed", System.nanoTime()));
        System.out.println(test + ": replay with -Dzkrecipes.seed=" + seed.value);
        return seed;
    }

    /**
     * The chances of one of the threads.
     *
     * @param thread its number
     * @return a generator that gives the same numbers for the same seed and thread
     */
    public Random random(int thread) {
        return new Random(value * 31 + thread);
    }
}
