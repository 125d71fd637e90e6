// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.compare;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.bench.compare.BenchCase.Setting;
import dev.zkrecipes.bench.compare.BenchCase.Target;
import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.contender.Work;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

class ResultTest {
    private static final BenchCase CASE = new BenchCase(
            "some",
            "what happens",
            Work.MUTEX,
            1,
            new BenchCase.Threads(1, 1, 1),
            List.of(Setting.memory(0)),
            List.of(
                    new Target(0, Metric.RATE, Contender.CURATOR, 2.5),
                    new Target(0, Metric.RATE, Contender.BARE, 1),
                    new Target(0, Metric.RATE, Contender.OURS, 300)));

    private static final Result RESULT = new Result(
            CASE,
            Setting.memory(0),
            100,
            new TreeMap<>(Map.of(
                    Contender.OURS, rates(200, 400, 600),
                    Contender.CURATOR, rates(100, 100, 300),
                    Contender.BARE, rates(0, 0, 0))));

    private static List<Map<Metric, Double>> rates(double... values) {
        return DoubleStream.of(values)
                .mapToObj(value -> Map.of(Metric.RATE, value))
                .toList();
    }

    @Test
    void summary_isOfTheRounds_andTheRatioOfPairs() {
        assertThat(RESULT.summary(Contender.OURS, Metric.RATE)).contains(new Summary(400, 200, 600, 3));
        assertThat(RESULT.ratio(Contender.CURATOR, Metric.RATE)).contains(new Summary(2, 2, 4, 3));
    }

    @Test
    void whatWasNotMeasured_orWasNothing_hasNoRatio() {
        assertThat(RESULT.summary(Contender.OURS, Metric.HEAP)).isEmpty();
        assertThat(RESULT.ratio(Contender.CURATOR, Metric.HEAP)).isEmpty();
        assertThat(RESULT.ratio(Contender.BARE, Metric.RATE)).isEmpty();
        assertThat(RESULT.ratio(Contender.OURS, Metric.RATE)).isEmpty();
    }

    @Test
    void description_namesMissedTargets() {
        assertThat(RESULT.describe())
                .contains("some, 0 ms", "ours 400 (100%) [>= 300.0: met];")
                .contains("curator 100 (200%), ours to it 2.00 (2.00..4.00) [>= 2.5: MISSED];")
                .contains("bare 0 (0%);"); // has no ratio, and so meets no target
    }

    @Test
    void results_haveARowForEachContender() {
        assertThat(Result.results(List.of(RESULT)).csv().lines())
                .hasSize(4)
                .contains("some,0,memory,100,rate,cycles/s,ours,400,200,600,3,,,,>= 300.0,yes")
                .contains("some,0,memory,100,rate,cycles/s,curator,100,100,300,3,2,2,4,>= 2.5,no");
    }
}
