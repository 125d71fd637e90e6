// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.semaphore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PermitsTest {

    @ParameterizedTest
    @ValueSource(ints = {1, 9, 10, 2147483647})
    void numberFromOneUp_isTakenAndRead(int permits) {
        assertThat(Permits.check(permits)).isEqualTo(permits);
        assertThat(Permits.parse(Integer.toString(permits))).contains(permits);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE})
    void numberBelowOne_isRefused(int permits) {
        assertThatThrownBy(() -> Permits.check(permits))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(permits + " permits");
        assertThat(Permits.parse(Integer.toString(permits))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", " ", "01", "007", "+1", "-1", "1 ", " 1", "1.0", "1e3", "0x1", "2147483648", "\u0661", "x"})
    void otherText_isNotANumber(String text) {
        assertThat(Permits.parse(text)).isEmpty();
    }
}
