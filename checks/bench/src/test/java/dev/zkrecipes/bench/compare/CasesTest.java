// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.compare;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.bench.compare.BenchCase.Setting;
import dev.zkrecipes.bench.compare.BenchCase.Target;
import dev.zkrecipes.bench.contender.Contender;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class CasesTest {
    static List<BenchCase> all() {
        return Cases.ALL;
    }

    @ParameterizedTest
    @MethodSource("all")
    void row_canBeMeasured(BenchCase each) {
        assertThat(Cases.find(each.name())).contains(each); // no other case has its name
        assertThat(each.name()).matches("[a-z0-9-]+"); // part of a path
        assertThat(each.work().contenders()).contains(Contender.OURS);
        assertThat(each.settings()).isNotEmpty().doesNotHaveDuplicates();
        assertThat(each.targets())
                .allMatch(target -> each.settings().contains(Setting.memory(target.roundTripMillis())))
                .allMatch(target -> each.work().contenders().contains(target.against()));
    }

    @Test
    void unknownName_isNotFound() {
        assertThat(Cases.find("nothing")).isEmpty();
    }

    @Test
    void target_isAMinimumWhereMoreIsBetter_andElseAMaximum() {
        Target rate = new Target(0, Metric.RATE, Contender.CURATOR, 1.4);
        assertThat(rate).hasToString(">= 1.4");
        assertThat(rate.isMetBy(1.4)).isTrue();
        assertThat(rate.isMetBy(1.39)).isFalse();
        Target requests = new Target(0, Metric.REQUESTS, Contender.OURS, 5);
        assertThat(requests).hasToString("<= 5.0");
        assertThat(requests.isMetBy(5)).isTrue();
        assertThat(requests.isMetBy(5.01)).isFalse();
    }

    @Test
    void everyOtherRound_isBackwards() {
        List<Contender> all = List.of(Contender.values());
        assertThat(Comparison.order(all, 2)).containsExactly(Contender.OURS, Contender.CURATOR, Contender.BARE);
        assertThat(Comparison.order(all, 3)).containsExactly(Contender.BARE, Contender.CURATOR, Contender.OURS);
    }
}
