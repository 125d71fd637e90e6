// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.internal;

import java.util.Random;

/**
 * The seed of a random test. The test prints its seed; {@code -Dzkrecipes.seed=...} repeats the test with that seed.
 */
public record Seed(long value) {

    /** Chooses a random seed, or takes the given one, and prints it. */
    public static Seed forTest(String test) {
        Seed seed = new Seed(Long.getLong("zkrecipes.seed", System.nanoTime()));
        System.out.println(test + ": replay with -Dzkrecipes.seed=" + seed.value);
        return seed;
    }

    /** Returns the random numbers for one of the threads of the test. */
    public Random random(int thread) {
        return new Random(value * 31 + thread);
    }
}
