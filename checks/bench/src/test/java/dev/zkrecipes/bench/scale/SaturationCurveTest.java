// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.scale;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;

class SaturationCurveTest {
    private static Map<Integer, Double> rates(IntToDoubleFunction rate) {
        Map<Integer, Double> rates = new TreeMap<>();
        for (int sessions : new int[] {1, 5, 20, 100, 500, 2_000}) {
            rates.put(sessions, rate.applyAsDouble(sessions));
        }
        return rates;
    }

    @Test
    void pointsOfACurve_giveThatCurve() {
        Map<Integer, Double> rates = rates(n -> 4_000.0 * n / (n + 12));
        SaturationCurve curve = SaturationCurve.fit(rates);
        assertThat(curve.most()).isCloseTo(4_000, within(1e-6));
        assertThat(curve.half()).isCloseTo(12, within(1e-9));
        assertThat(curve.rate(12)).isCloseTo(2_000, within(1e-6));
        assertThat(curve.deviation(rates)).isCloseTo(0, within(1e-9));
    }

    /** Whatever the rates: few sessions get a tenth of what many get, and their errors count as much. */
    @Test
    void errors_countAsSharesOfTheRate() {
        Random random = new Random(31);
        Map<Integer, Double> rates = rates(n -> 4_000.0 * n / (n + 12) * (1 + 0.05 * random.nextGaussian()));
        SaturationCurve curve = SaturationCurve.fit(rates);
        assertThat(curve.most()).isCloseTo(4_000, within(200.0));
        assertThat(curve.half()).isCloseTo(12, within(1.5));
        assertThat(curve.deviation(rates)).isBetween(0.01, 0.1);
    }

    @Test
    void ratesThatFall_areFarFromTheCurve() {
        Map<Integer, Double> rates = rates(n -> n < 500 ? 4_000.0 * n / (n + 12) : 2_000);
        assertThat(SaturationCurve.fit(rates).deviation(rates)).isGreaterThan(0.2);
    }
}
