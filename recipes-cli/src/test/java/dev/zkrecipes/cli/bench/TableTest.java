// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.bench.BenchCommand.Measured;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The table of {@code zklock bench}. */
class TableTest {
    @ParameterizedTest
    @EnumSource
    void row_isInLineWithTheHead_andFitsATerminal(Measured each) {
        assertThat(BenchCommand.row(each, 9_999_999, 9_999_999_000L, 9_999_999_000L, 99_999_999.9))
                .hasSameSizeAs(BenchCommand.HEAD)
                .hasSizeLessThanOrEqualTo(80);
    }
}
