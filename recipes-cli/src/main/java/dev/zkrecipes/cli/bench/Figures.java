// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.bench;

import com.google.common.math.Quantiles;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * The figures of one task.
 *
 * @param times how often it was done
 * @param median the time below which half of them stayed
 * @param p99 99 of 100 took less time than this
 * @param perSecond how many were done in a second, by all sessions together
 */
record Figures(int times, Duration median, Duration p99, double perSecond) {
    private static final double NANOS_A_SECOND = 1e9;

    /**
     * Sums up.
     *
     * @param nanos each time, at least one
     * @param all how long all of them took
     */
    static Figures of(List<Long> nanos, Duration all) {
        Map<Integer, Double> found = Quantiles.percentiles().indexes(50, 99).compute(nanos);
        return new Figures(
                nanos.size(),
                Duration.ofNanos(Math.round(found.getOrDefault(50, 0.0))),
                Duration.ofNanos(Math.round(found.getOrDefault(99, 0.0))),
                nanos.size() * NANOS_A_SECOND / all.toNanos());
    }
}
