// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.cases;

import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.measure.Metric;
import java.util.Locale;
import java.util.Optional;

/**
 * A target for one of our figures. If more is better, the bound is a minimum, otherwise a maximum.
 *
 * @param roundTripMillis where it applies
 * @param metric the metric
 * @param against the contender to divide our figure by; empty for our figure itself
 * @param bound the bound of the ratio or of the figure
 */
public record Target(int roundTripMillis, Metric metric, Optional<Contender> against, double bound) {
    static Target ratio(int roundTripMillis, Metric metric, Contender against, double bound) {
        return new Target(roundTripMillis, metric, Optional.of(against), bound);
    }

    static Target figure(int roundTripMillis, Metric metric, double bound) {
        return new Target(roundTripMillis, metric, Optional.empty(), bound);
    }

    /** Whether a measured ratio or figure meets it. */
    public boolean isMetBy(double measured) {
        return metric.moreIsBetter() ? measured >= bound : measured <= bound;
    }

    @Override
    public String toString() {
        return (metric.moreIsBetter() ? ">= " : "<= ") + String.format(Locale.ROOT, "%s", bound);
    }
}
