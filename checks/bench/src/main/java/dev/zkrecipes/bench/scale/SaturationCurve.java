// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.scale;

import java.util.Map;

/**
 * {@code rate(n) = most * n / (n + half)}: what n sessions get where a lock takes a fixed time, and a share of it in
 * turn with all others.
 *
 * @param most what more and more sessions get
 * @param half how many get half of that
 */
record SaturationCurve(double most, double half) {
    /** Two points fit always. */
    static final int LEAST_POINTS = 4;

    /**
     * The curve that fits best. {@code n / rate} is a straight line, so least squares of the relative errors have an
     * exact solution.
     *
     * @param rates by the number of sessions; two at least
     */
    static SaturationCurve fit(Map<Integer, Double> rates) {
        // 1 = constant * (rate / n) + slope * rate, as nearly as can be
        double xx = 0;
        double xy = 0;
        double yy = 0;
        double x = 0;
        double y = 0;
        for (Map.Entry<Integer, Double> point : rates.entrySet()) {
            double rate = point.getValue();
            double ofOne = rate / point.getKey();
            xx += ofOne * ofOne;
            xy += ofOne * rate;
            yy += rate * rate;
            x += ofOne;
            y += rate;
        }
        double determinant = xx * yy - xy * xy;
        double constant = (x * yy - y * xy) / determinant;
        double slope = (y * xx - x * xy) / determinant;
        return new SaturationCurve(1 / slope, constant / slope);
    }

    double rate(double sessions) {
        return most * sessions / (sessions + half);
    }

    /** How far the points are from the curve: the root of the mean square, as a share of the curve. */
    double deviation(Map<Integer, Double> rates) {
        return Math.sqrt(rates.entrySet().stream()
                .mapToDouble(point -> Math.pow(point.getValue() / rate(point.getKey()) - 1, 2))
                .average()
                .orElseThrow());
    }
}
