// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.stats;

import java.util.List;

/** The ratio of two contenders measured in the same rounds. */
public final class PairedRatio {
    private PairedRatio() {}

    /**
     * Divides round by round, then sums up: a slow phase of the machine slows both sides of a pair, and is gone
     * from their ratio. The ratio of the two medians would compare a good moment with a bad one.
     *
     * @param ours of each round, in the order of the rounds
     * @param theirs of the same rounds
     * @throws IllegalArgumentException if the rounds are not the same number, or there are none
     */
    public static Summary of(List<Double> ours, List<Double> theirs) {
        if (ours.size() != theirs.size()) {
            throw new IllegalArgumentException(ours.size() + " rounds cannot be paired with " + theirs.size());
        }
        double[] ratios = new double[ours.size()];
        for (int round = 0; round < ratios.length; round++) {
            ratios[round] = ours.get(round) / theirs.get(round);
        }
        return Summary.of(ratios);
    }
}
