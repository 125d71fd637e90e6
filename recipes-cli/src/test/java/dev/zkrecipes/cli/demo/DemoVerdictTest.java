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
        ledger.create(1);
    }

    /** Of lines such as {@code 1 IN 20 # 1 0; 1 OUT}; a number alone is the seconds that go by. */
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

    private List<Check> failures(DemoRecipe recipe, List<Long> counts, String lines) throws IOException {
        return new DemoVerdict(recipe, entries(lines))
                .checks(counts).stream().filter(check -> !check.ok()).toList();
    }

    private void assertFailed(DemoRecipe recipe, List<Long> counts, String subject, String finding, String lines)
            throws IOException {
        assertThat(failures(recipe, counts, lines)).anySatisfy(check -> {
            assertThat(check.subject()).isEqualTo(subject);
            assertThat(check.finding()).contains(finding);
        });
    }

    @Test
    void faultlessMutex_passes() throws IOException {
        assertThat(failures(
                        DemoRecipe.MUTEX,
                        List.of(2L),
                        "1 ASKS; 1 IN 10 # 1 0; 1 OUT; 2 IN 20 # 1 0; 2 IDLES; 2 KILLED; 4.5; 3 IN 30 # 1 0; "
                                + "3 OUT"))
                .isEmpty();
    }

    @Test
    void twoHoldersOfAMutex_fail() throws IOException {
        assertFailed(
                DemoRecipe.MUTEX,
                List.of(2L),
                "rule",
                "one at a time: violated 1 times, first by w1 (# 1 0) beside w2 (# 1 0)",
                "1 IN 10 # 1 0; 2 IN 20 # 1 0; 1 OUT; 2 OUT");
    }

    @Test
    void holderWhileTheVictimLives_fails() throws IOException {
        assertFailed(
                DemoRecipe.MUTEX,
                List.of(0L),
                "rule",
                "violated 1 times",
                "2 IN 10 # 1 0; 2 IDLES; 1 IN 20 # 1 0; 2 KILLED");
    }

    @Test
    void holdThatWasFoundToBeLost_provesNothing() throws IOException {
        assertThat(failures(
                        DemoRecipe.MUTEX,
                        List.of(2L),
                        "1 IN 10 # 1 0; 3 IN 20 # 1 0; 1 LOST; 3 OUT; 2 IN 25 # 1 0; 2 KILLED; 3; 1 IN 30 # 1 0; "
                                + "1 OUT"))
                .isEmpty();
    }

    @Test
    void readerBesideAWriter_fails_andReadersTogetherDoNot() throws IOException {
        assertFailed(
                DemoRecipe.RWLOCK,
                List.of(1L),
                "rule",
                "first by w1 (W 4 0) beside w2 (r 1 0)",
                "1 IN 10 W 4 0; 2 IN 20 r 1 0; 1 OUT");
        assertThat(failures(
                        DemoRecipe.RWLOCK,
                        List.of(1L),
                        "1 IN 30 r 1 0; 3 IN 31 r 1 0; 1 OUT; 3 OUT; 1 IN 40 W 4 0; 1 OUT"))
                .extracting(Check::subject)
                .containsExactly("take-over");
    }

    @Test
    void tooManyPermits_fail() throws IOException {
        assertFailed(
                DemoRecipe.SEMAPHORE,
                List.of(0L),
                "rule",
                "at most 5 permits: violated 1 times, first by w1 (3 3 0) beside w2 (2 2 0) beside w3 (1 1 0)",
                "1 IN 10 3 3 0; 2 IN 20 2 2 0; 3 IN 30 1 1 0");
    }

    @Test
    void lockOfAMultiLockHeldTwice_fails() throws IOException {
        assertFailed(
                DemoRecipe.MULTILOCK,
                List.of(0L),
                "rule",
                "w1 (# 1 0,1) beside w2 (# 1 2,1)",
                "1 IN 10 # 1 0,1; 3 IN 11 # 1 3,4; 2 IN 20 # 1 2,1");
    }

    @Test
    void oneWorkerAlone_provesNothing() throws IOException {
        assertFailed(DemoRecipe.MUTEX, List.of(1L), "rule", "1 holds, 1 processes", "1 IN 10 # 1 0; 1 OUT");
    }

    @Test
    void lostUpdate_fails() throws IOException {
        assertFailed(
                DemoRecipe.MUTEX,
                List.of(1L),
                "updates",
                "1 counted but 2 made",
                "1 IN 10 # 1 0; 1 OUT; 2 IN 20 # 1 0; 2 OUT");
        assertFailed(DemoRecipe.MUTEX, List.of(0L), "updates", "0 counted = 0 made", "3 ASKS");
    }

    @Test
    void tokenThatDoesNotRise_fails_betweenThoseWhoExcludeEachOther() throws IOException {
        assertFailed(
                DemoRecipe.MUTEX,
                List.of(2L),
                "tokens",
                "w2 came with 10 after w1 with 10",
                "1 IN 10 # 1 0; 1 OUT; 2 IN 10 # 1 0; 2 OUT");
        assertThat(failures(DemoRecipe.RWLOCK, List.of(0L), "1 IN 30 r 1 0; 2 IN 20 r 1 0"))
                .extracting(Check::subject)
                .doesNotContain("tokens");
    }

    @Test
    void lateTakeOver_fails_andSoDoesNone() throws IOException {
        assertFailed(
                DemoRecipe.MUTEX,
                List.of(0L),
                "take-over",
                "after 4.6 s, limit 4.5 s",
                "2 IN 10 # 1 0; 2 KILLED; 4.6; 1 IN 20 # 1 0");
        assertFailed(DemoRecipe.MUTEX, List.of(0L), "take-over", "nobody was killed", "2 IN 30 # 1 0");
    }

    @Test
    void nobodyTakesOver_fails() throws IOException {
        assertFailed(DemoRecipe.MUTEX, List.of(0L), "take-over", "none, limit 4.5 s", "2 IN 10 # 1 0; 2 KILLED; 9");
    }

    @Test
    void halfALine_isReadWhenItIsWhole() throws IOException {
        Path file = folder.resolve("ledger");
        Files.writeString(file, "1 ASKS\n1 IN 10 #");
        assertThat(ledger.news(0)).extracting(Entry::what).containsExactly(What.ASKS);
        Files.writeString(file, "1 ASKS\n1 IN 10 # 1 0\n");
        assertThat(ledger.news(0)).extracting(entry -> entry.share().toString()).containsExactly("# 1 0");
        ledger.add(3, What.FAILS, "broken\n\tpipe");
        assertThat(ledger.news(0)).extracting(Entry::text).containsExactly("broken pipe");
    }

    @Test
    void damagedFiles_areNamed() throws IOException {
        Files.writeString(folder.resolve("ledger"), "what is this\n");
        assertThatThrownBy(() -> ledger.news(0)).hasMessageContaining("what is this");
        Files.writeString(folder.resolve("counter-0"), "");
        assertThatThrownBy(() -> ledger.count(0)).hasMessageContaining("counter 0 is \"\"");
    }

    @Test
    void picture_showsWhatTheLedgerSaysOfEachInstant() throws IOException {
        List<Entry> entries =
                entries("1 ASKS; 1 IN 10 # 1 0; 24; 1 OUT; 2 ASKS; 2 IN 20 # 1 0; 24; 2 KILLED; 1 ASKS; 24; "
                        + "1 IN 30 # 1 0");
        assertThat(Picture.of(entries, 0, 72 * SECOND))
                .containsExactly(
                        "  w1  " + "#".repeat(24) + " ".repeat(24) + ".".repeat(24),
                        "  w2  " + " ".repeat(24) + "#".repeat(24) + "x".repeat(24),
                        "  w3",
                        "  w4");
    }
}
