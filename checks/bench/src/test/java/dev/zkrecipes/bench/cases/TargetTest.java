// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.cases;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.measure.Metric;
import org.junit.jupiter.api.Test;

class TargetTest {
    @Test
    void whereMoreIsBetter_theBoundIsTheLeast() {
        Target target = Target.ratio(0, Metric.RATE, Contender.CURATOR, 1.4);
        assertThat(target.isMetBy(1.4)).isTrue();
        assertThat(target.isMetBy(1.39)).isFalse();
        assertThat(target).hasToString(">= 1.4");
    }

    @Test
    void whereLessIsBetter_theBoundIsTheGreatest() {
        Target target = Target.figure(0, Metric.REQUESTS, 5);
        assertThat(target.isMetBy(5)).isTrue();
        assertThat(target.isMetBy(5.01)).isFalse();
        assertThat(target).hasToString("<= 5.0");
    }
}
