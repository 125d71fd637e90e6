// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

class CsvTest {
    @Test
    void lines_followTheHeader_andEachEnds() {
        Csv csv = new Csv("case", "value");
        csv.add("uncontended", 2);
        assertThat(csv).hasToString("case,value\nuncontended,2\n");
    }

    @Test
    void commasQuotesAndLineFeeds_areQuoted() {
        Csv csv = new Csv("text");
        csv.add("0 ms, disk");
        csv.add("a \"good\" one");
        csv.add("two\nlines");
        assertThat(csv).hasToString("text\n\"0 ms, disk\"\n\"a \"\"good\"\" one\"\n\"two\nlines\"\n");
    }

    @Test
    void numbers_haveFourDigits() {
        Csv csv = new Csv("a", "b", "c", "d");
        csv.add(1234.5678, 0.00012345, 123456.7, 2.0);
        assertThat(csv).hasToString("a,b,c,d\n1235,0.0001234,123457,2\n");
    }

    @Test
    void lineOfAnotherLength_isRefused() {
        Csv csv = new Csv("a", "b");
        assertThatIllegalArgumentException().isThrownBy(() -> csv.add("alone"));
    }
}
