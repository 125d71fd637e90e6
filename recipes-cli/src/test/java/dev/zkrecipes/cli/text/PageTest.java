// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.text;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.text.Page.Colour;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PageTest {
    private static String shown(int columns, boolean coloured, int length, String line, int indent) {
        StringWriter out = new StringWriter();
        new Page(new PrintWriter(out, true), columns, coloured).show(Colour.RED, length, line, indent);
        return out.toString();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "2147483647 | OK    subject  found this and that | OK    subject  found this and that",
                "34 | OK    subject  found this and that | OK    subject  found this and that",
                "33 | OK    subject  found this and that | OK    subject  found this and/               that",
                "24 | OK    subject  found this and that | OK    subject  found/            this and/            that",
                "20 | OK    subject  found this and that | OK    subject  found/          this and/          that",
                "24 | OK    subject  found-this-and-that | OK    subject/            found-this-and-that",
                "18 | found-this-and-that, once | found-this-and-that,/         once",
                "18 | found-this-and-that | found-this-and-that",
            })
    void line_isBrokenAtTheWidth_withAHangingIndent(int columns, String line, String pieces) {
        assertThat(shown(columns, false, 2, line, 15)).isEqualTo(pieces.replace('/', '\n') + "\n");
    }

    @Test
    void firstWords_haveAColour_asFarAsTheyAreInTheFirstPiece() {
        assertThat(shown(80, true, 4, "FAIL  it", 6)).isEqualTo("\033[1;31mFAIL\033[m  it\n");
        assertThat(shown(8, true, 14, "A TABLE HEADER", 2)).isEqualTo("\033[1;31mA TABLE\033[m\n  HEADER\n");
    }
}
