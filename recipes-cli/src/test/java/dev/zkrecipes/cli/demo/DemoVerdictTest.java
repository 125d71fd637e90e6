// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.cli.demo.DemoVerdict.Check;
import dev.zkrecipes.cli.demo.Ledger.Entry;
import dev.zkrecipes.cli.demo.Ledger.What;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each way in which a demo can be wrong, with a made-up ledger. */
class DemoVerdictTest {
    private static final long SECOND = 1_000_000_000L;

    @TempDir
    private Path folder;

    private Ledger ledger;

    @BeforeEach
    void create() throws IOException {
        ledger = new Ledger(folder);
        ledger.create();
    }

    /** Of lines such as {@code 1 IN 20; 1 OUT}; a number alone is the seconds that go by. */
    private List<Entry> entries(String lines) throws IOException {
        List<Entry> entries = new ArrayList<>();
        double now = 0;
        for (String line : lines.split("; ", -1)) {
            if (line.matches("[0-9.]+")) {
                now += Double.parseDouble(line);
            } else {
                String[] words = line.split(" ", 3);
                ledger.add(Integer.parseInt(words[0]), What.valueOf(words[1]), words.length > 2 ? words[2] : "");
                entries.addAll(ledger.news((long) (now * SECOND)));
            }
        }
        return entries;
    }

    private List<Check> failures(long count, String lines) throws IOException {
        return new DemoVerdict(entries(lines))
                .checks(count).stream().filter(check -> !check.ok()).toList();
    }

    private void assertFailed(long count, String subject, String finding, String lines) throws IOException {
        assertThat(failures(count, lines)).anySatisfy(check -> {
            assertThat(check.subject()).isEqualTo(subject);
            assertThat(check.finding()).contains(finding);
        });
    }

    @Test
    void faultlessMutex_passes() throws IOException {
        assertThat(failures(2, "1 ASKS; 1 IN 10; 1 OUT; 2 IN 20; 2 IDLES; 2 KILLED; 4.5; 3 IN 30; 3 OUT"))
                .isEmpty();
    }

    @Test
    void twoHoldersOfAMutex_fail() throws IOException {
        assertFailed(
                2,
                "rule",
                "one at a time: violated 1 times, first by w1 (token 10) beside w2 (token 20)",
                "1 IN 10; 2 IN 20; 1 OUT; 2 OUT");
    }

    @Test
    void holderWhileTheVictimLives_fails() throws IOException {
        assertFailed(0, "rule", "violated 1 times", "2 IN 10; 2 IDLES; 1 IN 20; 2 KILLED");
    }

    @Test
    void holdThatWasFoundToBeLost_provesNothing() throws IOException {
        assertThat(failures(2, "1 IN 10; 3 IN 20; 1 LOST; 3 OUT; 2 IN 25; 2 KILLED; 3; 1 IN 30; 1 OUT"))
                .isEmpty();
    }

    @Test
    void oneWorkerAlone_provesNothing() throws IOException {
        assertFailed(1, "rule", "1 holds, 1 processes", "1 IN 10; 1 OUT");
    }

    @Test
    void lostUpdate_fails() throws IOException {
        assertFailed(1, "updates", "1 counted but 2 made", "1 IN 10; 1 OUT; 2 IN 20; 2 OUT");
        assertFailed(0, "updates", "0 counted = 0 made", "3 ASKS");
    }

    @Test
    void tokenThatDoesNotRise_fails() throws IOException {
        assertFailed(2, "tokens", "w2 came with 10 after w1 with 10", "1 IN 10; 1 OUT; 2 IN 10; 2 OUT");
    }

    @Test
    void lateTakeOver_fails_andSoDoesNone() throws IOException {
        assertFailed(0, "take-over", "after 4.6 s, limit 4.5 s", "2 IN 10; 2 KILLED; 4.6; 1 IN 20");
        assertFailed(0, "take-over", "nobody was killed", "2 IN 30");
    }

    @Test
    void nobodyTakesOver_fails() throws IOException {
        assertFailed(0, "take-over", "none, limit 4.5 s", "2 IN 10; 2 KILLED; 9");
    }

    @Test
    void halfALine_isReadWhenItIsWhole() throws IOException {
        Path file = folder.resolve("ledger");
        Files.writeString(file, "1 ASKS\n1 IN 1");
        assertThat(ledger.news(0)).extracting(Entry::what).containsExactly(What.ASKS);
        Files.writeString(file, "1 ASKS\n1 IN 10\n");
        assertThat(ledger.news(0)).extracting(Entry::token).containsExactly(10L);
        ledger.add(3, What.FAILS, "broken\n\tpipe");
        assertThat(ledger.news(0)).extracting(Entry::text).containsExactly("broken pipe");
    }

    @Test
    void damagedFiles_areNamed() throws IOException {
        Files.writeString(folder.resolve("ledger"), "what is this\n");
        assertThatThrownBy(() -> ledger.news(0)).hasMessageContaining("what is this");
        Files.writeString(folder.resolve("counter"), "");
        assertThatThrownBy(() -> ledger.count()).hasMessageContaining("the counter is \"\"");
    }

    @Test
    void picture_showsWhatTheLedgerSaysOfEachInstant() throws IOException {
        List<Entry> entries = entries("1 ASKS; 1 IN 10; 24; 1 OUT; 2 ASKS; 2 IN 20; 24; 2 KILLED; 1 ASKS; 24; 1 IN 30");
        assertThat(Picture.of(entries, 0, 72 * SECOND))
                .containsExactly(
                        "  w1  " + "#".repeat(24) + " ".repeat(24) + ".".repeat(24),
                        "  w2  " + " ".repeat(24) + "#".repeat(24) + "x".repeat(24),
                        "  w3",
                        "  w4");
    }
}
