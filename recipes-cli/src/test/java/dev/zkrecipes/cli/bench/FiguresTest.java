// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class FiguresTest {
    @Test
    void percentiles_doNotDependOnTheOrder() {
        List<Long> times =
                new ArrayList<>(LongStream.rangeClosed(0, 100).boxed().toList());
        Collections.shuffle(times, new Random(7));
        assertThat(Figures.of(times, Duration.ofMillis(500)))
                .isEqualTo(new Figures(101, Duration.ofNanos(50), Duration.ofNanos(99), 202));
    }

    @Test
    void oneTime_isAllOfThem() {
        assertThat(Figures.of(List.of(3_000_000L), Duration.ofMillis(4)))
                .isEqualTo(new Figures(1, Duration.ofMillis(3), Duration.ofMillis(3), 250));
    }
}
