// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JsonTest {
    @Test
    void values_areWrittenInTheirOrder() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("z", 1);
        map.put("a", List.of(true, -5L, "x", List.of(), Map.of()));
        assertThat(Json.of(map)).isEqualTo("{\"z\":1,\"a\":[true,-5,\"x\",[],{}]}");
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '\'',
            value = {
                "22, '\\\"'",
                "5c, '\\\\'",
                "2f, '/'",
                "e4, '\u00e4'",
                "1f512, '\ud83d\udd12'",
                "0, '\\u0000'",
                "a, '\\u000a'",
                "1b, '\\u001b'",
                "7f, '\\u007f'",
                "9b, '\\u009b'",
                "202e, '\\u202e'",
                "2028, '\\u2028'",
                "d800, '\\ud800'",
                "e0001, '\\udb40\\udc01'"
            })
    void character_isWritten_escapedIfItCouldHarmATerminal(String codePoint, String written) {
        String text = new StringBuilder()
                .appendCodePoint(Integer.parseInt(codePoint, 16))
                .toString();
        assertThat(Json.of(text)).isEqualTo('"' + written + '"');
    }

    @Test
    void unsupportedValue_isRefused() {
        assertThatThrownBy(() -> Json.of(List.of(0.5))).isInstanceOf(IllegalArgumentException.class);
    }
}
