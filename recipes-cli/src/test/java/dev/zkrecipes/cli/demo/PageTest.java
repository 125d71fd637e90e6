// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class PageTest {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);

    private List<String> lines() {
        return bytes.toString(StandardCharsets.UTF_8).lines().toList();
    }

    @Test
    void shortText_isOneLine() {
        new Timeline(new Page(out, false), 0).tell(1_250_000_000L, "w2", Tone.GOOD, "TOOK OVER");
        assertThat(lines()).containsExactly("   1.3 s  w2      TOOK OVER");
    }

    @Test
    void longText_isWrappedBesideItsHead() {
        String text = "word ".repeat(40);
        new Timeline(new Page(out, false), 0).tell(0, "w2", Tone.PLAIN, text);
        assertThat(lines())
                .hasSizeGreaterThan(2)
                .allSatisfy(line ->
                        assertThat(line).hasSizeLessThanOrEqualTo(80).matches("(   0\\.0 s  w2      | {18})word.*"));
        assertThat(String.join(" ", lines()).replaceAll("\\s+", " ")).endsWith(text.strip());
    }

    @Test
    void textThatJustFits_isNotWrapped() {
        new Page(out, false).print(Tone.PLAIN, "x".repeat(80));
        assertThat(lines()).containsExactly("x".repeat(80));
    }

    @Test
    void longWord_isBroken() {
        new Page(out, false).print(Tone.PLAIN, "x".repeat(170));
        assertThat(lines()).containsExactly("x".repeat(80), "x".repeat(80), "x".repeat(10));
    }

    @Test
    void withoutColour_thereIsNoEscape() {
        for (Tone tone : Tone.values()) {
            new Page(out, false).print("head ", tone, tone, "text");
        }
        assertThat(lines()).containsOnly("head text");
    }

    @Test
    void colour_isSwitchedOffOnEachLine() {
        new Page(out, true).print(Tone.BAD, "word ".repeat(30));
        assertThat(lines())
                .hasSize(2)
                .allSatisfy(line -> assertThat(line).startsWith("\033[1;31m").endsWith("\033[0m"));
    }

    @Test
    void closedPage_printsNoMore() {
        Page page = new Page(out, false);
        page.close(Tone.PLAIN, "last");
        page.print(Tone.PLAIN, "more");
        assertThat(lines()).containsExactly("last");
    }

    @Test
    void times_areShort() {
        assertThat(Timeline.show(Duration.ZERO)).isEqualTo("0.0 ms");
        assertThat(Timeline.show(Duration.ofNanos(9_149_000))).isEqualTo("9.1 ms");
        assertThat(Timeline.show(Duration.ofMillis(500))).isEqualTo("0.5 s");
        assertThat(Timeline.show(Duration.ofMillis(3249))).isEqualTo("3.2 s");
    }
}
