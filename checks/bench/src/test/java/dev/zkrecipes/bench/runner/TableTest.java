// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.runner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;

class TableTest {
    @Test
    void rows_followTheHeader() {
        Table table = Table.of("case,value");
        table.add("uncontended", 2);
        assertThat(table.csv()).isEqualTo("case,value\nuncontended,2\n");
        assertThat(table.markdown()).isEqualTo("| case | value |\n|---|---:|\n| uncontended | 2 |\n");
    }

    @Test
    void commasQuotesAndLineFeeds_areQuoted() {
        Table table = new Table(List.of("text"));
        table.add("0 ms, disk");
        table.add("a \"good\" one");
        table.add("two\nlines");
        assertThat(table.csv()).isEqualTo("text\n\"0 ms, disk\"\n\"a \"\"good\"\" one\"\n\"two\nlines\"\n");
    }

    @Test
    void numbers_haveFourDigits() {
        Table table = Table.of("a,b,c,d");
        table.add(1234.5678, 0.00012345, 123456.7, 2.0);
        assertThat(table.csv()).isEqualTo("a,b,c,d\n1235,0.0001234,123457,2\n");
    }

    @Test
    void rowOfAnotherLength_isRejected() {
        Table table = Table.of("a,b");
        assertThatIllegalArgumentException().isThrownBy(() -> table.add("alone"));
    }
}
