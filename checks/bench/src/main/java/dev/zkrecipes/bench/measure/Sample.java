// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.measure;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/** The measurements of one turn of one contender. Immutable. */
public final class Sample {
    private final Map<Metric, Double> values;

    private Sample(Map<Metric, Double> values) {
        this.values = values;
    }

    /** A sample with nothing in it yet. */
    public static Sample empty() {
        return new Sample(Map.of());
    }

    /** This and one more value. */
    public Sample with(Metric metric, double value) {
        Map<Metric, Double> more = new EnumMap<>(Metric.class);
        more.putAll(values);
        more.put(metric, value);
        return new Sample(more);
    }

    public Map<Metric, Double> values() {
        return Collections.unmodifiableMap(values);
    }
}
