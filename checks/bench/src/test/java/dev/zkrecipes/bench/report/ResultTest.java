// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.bench.cases.BenchCase;
import dev.zkrecipes.bench.cases.Target;
import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.measure.Metric;
import dev.zkrecipes.bench.measure.Sample;
import dev.zkrecipes.bench.measure.Setting;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

class ResultTest {
    private static final Target TARGET = new Target(0, Metric.RATE, Optional.of(Contender.CURATOR), 2.5);

    private static final Result RESULT = new Result(
            new BenchCase("some", "what happens", List.of(Setting.memory(0)), Map.of(), List.of(TARGET)),
            Setting.memory(0),
            100,
            Map.of(
                    Contender.OURS, rates(200, 400, 600),
                    Contender.CURATOR, rates(100, 100, 300),
                    Contender.BARE, rates(0, 0, 0)));

    private static List<Sample> rates(double... values) {
        return DoubleStream.of(values)
                .mapToObj(value -> Sample.empty().with(Metric.RATE, value))
                .toList();
    }

    @Test
    void summary_isOfTheRounds() {
        assertThat(RESULT.summary(Contender.OURS, Metric.RATE)).contains(new Summary(400, 200, 600, 3));
    }

    @Test
    void ratio_isOfPairs() {
        assertThat(RESULT.ratio(Contender.CURATOR, Metric.RATE)).contains(new Summary(2, 2, 4, 3));
    }

    @Test
    void unmeasuredCase_hasNoSummaryAndNoRatio() {
        assertThat(RESULT.summary(Contender.OURS, Metric.HEAP)).isEmpty();
        assertThat(RESULT.ratio(Contender.CURATOR, Metric.HEAP)).isEmpty();
    }

    @Test
    void ratioToNothing_isNone() {
        assertThat(RESULT.ratio(Contender.BARE, Metric.RATE)).isEmpty();
    }

    @Test
    void ratioToItself_isNone() {
        assertThat(RESULT.ratio(Contender.OURS, Metric.RATE)).isEmpty();
    }

    @Test
    void console_namesMissedTargets() {
        assertThat(Console.describe(RESULT)).contains("some, 0 ms", "ours 400 (100%)", "[curator >= 2.5: MISSED]");
    }

    @Test
    void results_haveALineForEachContender() {
        assertThat(ResultFiles.results(List.of(RESULT)).lines())
                .hasSize(4)
                .anyMatch(line -> line.equals("some,0,memory,100,rate,cycles/s,curator,100,100,300,3,2,2,4"));
    }

    @Test
    void rounds_haveALineForEachFigure() {
        assertThat(ResultFiles.rounds(List.of(RESULT)).lines())
                .hasSize(10)
                .contains("some,0,memory,ours,2,rate,cycles/s,400");
    }

    @Test
    void targets_areReportedAsMetOrMissed() {
        assertThat(ResultFiles.targets(List.of(RESULT)).lines())
                .containsExactly(
                        "case,setting,metric,against,target,measured,least,greatest,met",
                        "some,0 ms,rate,curator,>= 2.5,2,2,4,no");
    }
}
