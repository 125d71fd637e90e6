// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.cases;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.measure.Setting;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class CasesTest {
    static List<BenchCase> all() {
        return Cases.all();
    }

    @Test
    void names_areDifferent() {
        assertThat(Cases.all()).extracting(BenchCase::name).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @MethodSource("all")
    void name_isFound_andCanBePartOfAPath(BenchCase each) {
        assertThat(Cases.find(each.name())).contains(each);
        assertThat(each.name()).matches("[a-z0-9-]+");
    }

    @ParameterizedTest
    @MethodSource("all")
    void everyCase_hasOurs(BenchCase each) {
        assertThat(each.contenders()).containsKey(Contender.OURS);
    }

    @ParameterizedTest
    @MethodSource("all")
    void settings_areDifferent_andThereIsOne(BenchCase each) {
        assertThat(each.settings()).isNotEmpty().doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @MethodSource("all")
    void targets_areWhereTheCaseIsMeasured_againstParticipants(BenchCase each) {
        assertThat(each.targets())
                .allMatch(target -> each.settings().contains(Setting.memory(target.roundTripMillis())))
                .allMatch(target -> target.against()
                        .map(against ->
                                against != Contender.OURS && each.contenders().containsKey(against))
                        .orElse(true));
    }

    @Test
    void unknownName_isNotFound() {
        assertThat(Cases.find("nothing")).isEmpty();
    }
}
