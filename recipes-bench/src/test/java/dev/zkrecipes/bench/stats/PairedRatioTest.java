// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;

class PairedRatioTest {
    /** The medians alone, 20 and 20, would say that both are equal. */
    @Test
    void ratio_isTakenWithinTheRounds() {
        Summary ratio = PairedRatio.of(List.of(10.0, 20.0, 60.0), List.of(5.0, 20.0, 20.0));
        assertThat(ratio).isEqualTo(new Summary(2, 1, 3, 3));
    }

    @Test
    void roundSlowForBoth_changesNothing() {
        Summary ratio = PairedRatio.of(List.of(30.0, 3.0, 30.0), List.of(10.0, 1.0, 10.0));
        assertThat(ratio).isEqualTo(new Summary(3, 3, 3, 3));
    }

    @Test
    void unpairedRounds_areRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> PairedRatio.of(List.of(1.0, 2.0), List.of(1.0)));
    }
}
