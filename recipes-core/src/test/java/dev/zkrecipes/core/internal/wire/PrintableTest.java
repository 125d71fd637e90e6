// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.wire;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PrintableTest {

    @ParameterizedTest
    @ValueSource(strings = {"", "plain text 1", "J\u00fcrgen", "\u4e2d", "\ud83d\ude80", "a\\b"})
    void plainText_staysAsItIs(String text) {
        assertThat(Printable.of(text)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({
        "'\n', 000a",
        "'\r', 000d",
        "'\u0000', 0000",
        "'\u001b', 001b",
        "'\u007f', 007f",
        "'\u0085', 0085",
        "'\u200b', 200b",
        "'\u202e', 202e",
        "'\u2028', 2028",
        "'\u2029', 2029",
        "'\ufeff', feff",
        "'\ue000', e000",
        "'\ud800', d800"
    })
    void forgingOrHiddenCharacters_areEscaped(String text, String code) {
        assertThat(Printable.of("a" + text + "b")).isEqualTo("a\\u" + code + "b");
    }

    @Test
    void longText_isCut() {
        assertThat(Printable.of("x".repeat(300))).isEqualTo("x".repeat(300));
        assertThat(Printable.of("x".repeat(301))).isEqualTo("x".repeat(300) + "...");
        assertThat(Printable.of("\n".repeat(10_000))).hasSizeLessThan(2000);
    }

    @Test
    void textIsNotCutWithinACharacter() {
        String rockets = "\ud83d\ude80".repeat(301);
        assertThat(Printable.of(rockets)).isEqualTo("\ud83d\ude80".repeat(300) + "...");
    }
}
