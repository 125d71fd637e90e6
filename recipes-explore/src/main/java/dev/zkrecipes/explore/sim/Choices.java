// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import java.util.Arrays;
import java.util.Objects;
import java.util.SplittableRandom;

/**
 * Decides everything that a simulated run leaves open: how long a message takes, whether a fault strikes now, what a
 * client does next. A run is a function of these answers. So the same answers replay a run, and fewer or smaller
 * answers make a simpler run. Zero is always the plain answer: no fault, the shortest delay.
 *
 * <p>Not thread-safe.
 */
public final class Choices {
    private static final int[] NONE = {};

    private final SplittableRandom random;
    private final boolean replays;
    private int[] taken;
    private int count;

    private Choices(SplittableRandom random, boolean replays, int[] taken) {
        this.random = random;
        this.replays = replays;
        this.taken = taken;
    }

    /**
     * {@return a source of random answers}
     *
     * @param seed the same seed gives the same answers
     */
    public static Choices random(long seed) {
        return new Choices(new SplittableRandom(seed), false, NONE);
    }

    /**
     * {@return a source that repeats answers; after the last of them, all answers are zero}
     *
     * @param answers the {@link #taken()} answers of another run, or a simplified form of them
     */
    public static Choices replay(int[] answers) {
        return new Choices(
                new SplittableRandom(0),
                true,
                Objects.requireNonNull(answers, "answers").clone());
    }

    /** {@return a copy of the answers so far} */
    public int[] taken() {
        return Arrays.copyOf(taken, Math.min(count, taken.length));
    }

    /**
     * {@return one of several numbers, each equally likely: 0 or more, less than {@code bound}}
     *
     * @param bound the number of possible answers, at least 1
     */
    public int next(int bound) {
        return replays ? Math.floorMod(replayed(), bound) : took(random.nextInt(bound));
    }

    /**
     * {@return whether an optional event happens}
     *
     * @param perMille how many times out of a thousand the event happens
     */
    public boolean chance(int perMille) {
        return (replays ? replayed() : took(random.nextInt(1000) < perMille ? 1 : 0)) != 0;
    }

    /**
     * {@return one of several numbers, of which small ones are far more likely: more than half of the answers are below
     * a sixteenth of the bound}
     *
     * @param bound the number of possible answers, at least 16
     */
    public int skewed(int bound) {
        if (replays) {
            return Math.floorMod(replayed(), bound);
        }
        int kind = random.nextInt(8);
        return took(random.nextInt(kind < 4 ? bound / 16 : kind < 7 ? bound / 4 : bound));
    }

    private int replayed() {
        int answer = count < taken.length ? taken[count] : 0;
        count++;
        return answer;
    }

    private int took(int answer) {
        if (count == taken.length) {
            taken = Arrays.copyOf(taken, Math.max(256, 2 * count));
        }
        taken[count++] = answer;
        return answer;
    }
}
