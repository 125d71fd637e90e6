// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench;

import static dev.zkrecipes.bench.contender.Contender.BARE;
import static dev.zkrecipes.bench.contender.Contender.CURATOR;
import static dev.zkrecipes.bench.contender.Contender.OURS;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;

class BenchRunTest {
    @Test
    void everyOtherRound_isBackwards() {
        assertThat(BenchRun.order(Set.of(BARE, OURS, CURATOR), 2)).containsExactly(OURS, CURATOR, BARE);
        assertThat(BenchRun.order(Set.of(BARE, OURS, CURATOR), 3)).containsExactly(BARE, CURATOR, OURS);
    }
}
