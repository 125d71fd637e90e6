// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import java.util.Arrays;
import java.util.function.Predicate;

/**
 * Simplifies a sequence of choices as long as it still shows the same error. It first leaves out runs of choices or
 * makes them plain, long runs first, and then makes single choices smaller. The idea is that of Hypothesis' reducer
 * (D. R. MacIver and A. F. Donaldson, Test-Case Reduction via Test-Case Generation, ECOOP 2020).
 */
final class Shrinker {
    private static final int MOST_TRIES = 2000;

    private final Predicate<int[]> shows;
    private int tries;

    Shrinker(Predicate<int[]> shows) {
        this.shows = shows;
    }

    int[] shrink(int[] choices) {
        int[] best = choices;
        int[] before;
        do {
            before = best;
            best = cutEnd(best);
            for (int run = Math.max(1, best.length / 2); run >= 1; run /= 2) {
                best = leaveOut(best, run);
                best = even(best, run);
            }
            best = reduce(best);
        } while (!Arrays.equals(before, best) && tries < MOST_TRIES);
        return best;
    }

    private boolean stillShows(int[] candidate) {
        return tries++ < MOST_TRIES && shows.test(candidate);
    }

    /** Drops plain choices at the end: after the last choice, a replay answers with plain choices anyway. */
    private static int[] cutEnd(int[] choices) {
        int length = choices.length;
        while (length > 0 && choices[length - 1] == 0) {
            length--;
        }
        return Arrays.copyOf(choices, length);
    }

    private int[] leaveOut(int[] choices, int run) {
        int[] best = choices;
        for (int from = 0; from < best.length; ) {
            int to = Math.min(best.length, from + run);
            int[] candidate = new int[best.length - (to - from)];
            System.arraycopy(best, 0, candidate, 0, from);
            System.arraycopy(best, to, candidate, from, best.length - to);
            if (stillShows(candidate)) {
                best = candidate;
            } else {
                from += run;
            }
        }
        return best;
    }

    private int[] even(int[] choices, int run) {
        int[] best = choices;
        for (int from = 0; from < best.length; from += run) {
            int to = Math.min(best.length, from + run);
            int[] candidate = best.clone();
            Arrays.fill(candidate, from, to, 0);
            if (!Arrays.equals(candidate, best) && stillShows(candidate)) {
                best = candidate;
            }
        }
        return cutEnd(best);
    }

    private int[] reduce(int[] choices) {
        int[] best = choices;
        for (int at = 0; at < best.length; at++) {
            while (best[at] > 0) {
                int[] candidate = best.clone();
                candidate[at] /= 2;
                if (!stillShows(candidate)) {
                    break;
                }
                best = candidate;
            }
        }
        return cutEnd(best);
    }
}
