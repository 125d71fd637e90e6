// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.stats;

import java.util.Arrays;

/**
 * Several measurements of one thing.
 *
 * @param median the middle one, or the mean of the two in the middle
 * @param least the least
 * @param greatest the greatest
 * @param count how many there were
 */
public record Summary(double median, double least, double greatest, int count) {

    /**
     * Sums up measurements.
     *
     * @param values in any order; left as they are
     * @throws IllegalArgumentException if there are none, or one is not a number
     */
    public static Summary of(double... values) {
        if (values.length == 0) {
            throw new IllegalArgumentException("nothing was measured");
        }
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        double greatest = sorted[sorted.length - 1]; // NaN is sorted behind everything
        if (Double.isNaN(greatest)) {
            throw new IllegalArgumentException("not a number: " + Arrays.toString(values));
        }
        int middle = sorted.length / 2;
        double median = sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
        return new Summary(median, sorted[0], greatest, sorted.length);
    }

    /**
     * The spread of the measurements, as a share of the median: 0 if all are equal, 0.5 if the greatest exceeds the
     * least by half of the median. With few rounds this says more than a standard deviation, which would presume a
     * distribution.
     */
    public double spread() {
        return greatest == least ? 0 : (greatest - least) / median;
    }
}
