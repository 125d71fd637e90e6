// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.compare;

import com.google.common.math.Quantiles;
import com.google.common.primitives.Doubles;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Several measurements of one thing.
 *
 * @param median the middle one, or the mean of the two in the middle
 * @param least the least
 * @param greatest the greatest
 * @param count how many there were
 */
record Summary(double median, double least, double greatest, int count) {

    /**
     * Sums up measurements.
     *
     * @param values in any order; left as they are
     * @throws IllegalArgumentException if there are none, or one is not a number
     */
    static Summary of(double... values) {
        double median = Quantiles.median().compute(values);
        if (Double.isNaN(median)) {
            throw new IllegalArgumentException("not a number: " + Arrays.toString(values));
        }
        return new Summary(median, Doubles.min(values), Doubles.max(values), values.length);
    }

    /**
     * Divides round by round, then sums up: a slow phase of the machine slows both sides of a pair, and is gone
     * from their ratio. The ratio of the two medians would compare a good moment with a bad one.
     *
     * @param ours of each round, in the order of the rounds
     * @param theirs of the same rounds
     * @throws IllegalArgumentException if the rounds are not the same number, or there are none
     */
    static Summary ofRatios(List<Double> ours, List<Double> theirs) {
        if (ours.size() != theirs.size()) {
            throw new IllegalArgumentException(ours.size() + " rounds cannot be paired with " + theirs.size());
        }
        return of(IntStream.range(0, ours.size())
                .mapToDouble(round -> ours.get(round) / theirs.get(round))
                .toArray());
    }

    /**
     * The spread of the measurements, as a share of the median: 0 if all are equal, 0.5 if the greatest exceeds the
     * least by half of the median. With few rounds this says more than a standard deviation, which would presume a
     * distribution.
     */
    double spread() {
        return greatest == least ? 0 : (greatest - least) / median;
    }
}
