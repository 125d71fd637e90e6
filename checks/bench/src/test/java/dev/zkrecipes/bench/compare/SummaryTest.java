// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;

class SummaryTest {
    @Test
    void medianOfAnOddNumber_isTheOneInTheMiddle() {
        assertThat(Summary.of(9, 1, 5)).isEqualTo(new Summary(5, 1, 9, 3));
    }

    @Test
    void single_isItsOwnMedian_withoutSpread() {
        assertThat(Summary.of(7)).isEqualTo(new Summary(7, 7, 7, 1));
        assertThat(Summary.of(7).spread()).isZero();
    }

    @Test
    void spread_isTheRangeAsAShareOfTheMedian() {
        assertThat(Summary.of(8, 10, 14).spread()).isEqualTo(0.6);
    }

    @Test
    void nothingEverywhere_hasNoSpread() {
        assertThat(Summary.of(0, 0, 0).spread()).isZero();
    }

    @Test
    void none_isRefused() {
        assertThatIllegalArgumentException().isThrownBy(Summary::of);
    }

    @Test
    void noNumber_isRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> Summary.of(1, Double.NaN, 2));
    }

    /** The medians alone, 20 and 20, would say that both are equal. */
    @Test
    void ratio_isTakenWithinTheRounds() {
        Summary ratio = Summary.ofRatios(List.of(10.0, 20.0, 60.0), List.of(5.0, 20.0, 20.0));
        assertThat(ratio).isEqualTo(new Summary(2, 1, 3, 3));
    }

    @Test
    void unpairedRounds_areRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> Summary.ofRatios(List.of(1.0, 2.0), List.of(1.0)));
    }
}
