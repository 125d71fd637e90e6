// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.manual;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.Ran;
import dev.zkrecipes.cli.Tool;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ManPageTest {
    @TempDir
    private Path folder;

    /** What a command prints on both outputs. */
    private static String output(String... command) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(Map.of("MANWIDTH", "80", "LC_ALL", "C.UTF-8", "MAN_KEEP_FORMATTING", ""));
        Process process = builder.start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(text).isZero();
        return text;
    }

    private List<Path> pages() throws IOException {
        assertThat(Ran.zklock("man", "--all", folder.toString()).code()).isZero();
        try (Stream<Path> pages = Files.list(folder)) {
            return pages.sorted().toList();
        }
    }

    @Test
    void everyVisibleCommand_hasAPage() throws IOException {
        assertThat(pages())
                .extracting(page -> page.getFileName().toString())
                .contains(
                        "zklock.1",
                        "zklock-ls.1",
                        "zklock-revoke.1",
                        "zklock-break.1",
                        "zklock-server.1",
                        "zklock-bench.1")
                .contains("zklock-demo.1", "zklock-completion.1", "zklock-man.1");
    }

    @Test
    void page_hasWhatHelpShows() {
        String page = Ran.zklock("man", "ls").out();
        assertThat(page)
                .startsWith(".TH \"ZKLOCK\\-LS\" 1 ")
                .contains(".SH \"NAME\"\nzklock\\-ls \\- Shows who holds a lock and who waits\n")
                .contains(".SH \"SYNOPSIS\"\nzklock ls ")
                .contains("\n.TP\n\\fB\\-r, \\-\\-recursive\\fR\n")
                .contains("\n.TP\n\\fB\\-\\-connect HOSTS\\fR\n")
                .contains(".SH \"EXIT STATUS\"\n.TP\n\\fB0\\fR\n")
                .contains(".SH \"EXAMPLES\"\n.PP\n.nf\n  zklock ls /locks/nightly\n")
                .contains("jq \\-r \\(aq.participants[0].owner\\(aq")
                .contains(".SH \"SEE ALSO\"\nzklock(1), ");
        assertThat(page).doesNotContain("%n", "${", "@|");
    }

    @Test
    void eachFormOfACommand_beginsALine() {
        assertThat(Ran.zklock("man", "run").out())
                .containsPattern(
                        "\nzklock run \\[.*COMMAND\\.\\.\\.\n\\.br\nzklock run \\[OPTIONS\\] \\\\-\\\\-all .*COMMAND\\.\\.\\.\n");
        assertThat(Ran.zklock("man", "demo").out()).containsPattern("\nzklock demo .* \\[RECIPE\\]\n");
    }

    @Test
    void roff_takesNoTextForARequest() {
        Roff roff = new Roff("X", "", "");
        roff.paragraph(".so /etc/passwd");
        roff.text("'br \\n(.x - ~ ^ ` \"q\" \u00e4");
        assertThat(roff.toString())
                .contains(".PP\n\\&.so /etc/passwd\n")
                .endsWith("\n\\(aqbr \\(rsn(.x \\- \\(ti \\(ha \\(ga \\(dqq\\(dq \\[u00E4]\n");
    }

    /** By the grammar of what {@link Roff} writes, and by {@code groff} and {@code man} too where they are installed. */
    @Test
    void pages_areValidRoff() throws IOException, InterruptedException {
        for (Path page : pages()) {
            List<String> lines = Files.readAllLines(page);
            assertThat(lines.get(0)).startsWith(".TH \"ZKLOCK");
            assertThat(lines)
                    .allSatisfy(line -> assertThat(line)
                            .matches("(\\.(TH|SH) (\".*\"|1| )+|\\.(nh|ad l|PP|TP|br|nf|fi)|(?![.']).*)")
                            .matches("([^\\\\]|\\\\(-|&|fB|fR|\\((rs|aq|ga|ha|ti|dq)|\\[u[0-9A-F]{4,6}]))*"));
            assertThat(lines.stream().filter(line -> line.equals(".nf")).count())
                    .isEqualTo(lines.stream().filter(line -> line.equals(".fi")).count());
            if (Tool.GROFF.isInstalled()) {
                assertThat(output("groff", "-man", "-ww", "-Tutf8", "-z", page.toString()))
                        .as(page.toString())
                        .isEmpty();
            }
        }
        if (Tool.MAN.isInstalled()) {
            assertThat(output(
                            "man",
                            "-P",
                            "cat",
                            "-l",
                            folder.resolve("zklock-ls.1").toString()))
                    .contains("ZKLOCK-LS(1)", "SYNOPSIS", "--recursive", "| jq -r '.participants[0].owner'");
        }
    }

    @Test
    void unknownCommand_isExplained() {
        Ran ran = Ran.zklock("man", "chess");
        assertThat(ran.code()).isEqualTo(64);
        assertThat(ran.err()).contains("no command chess; there are run, ls, ");
    }

    @Test
    void completion_isAScriptThatBashTakes() throws IOException, InterruptedException {
        Tool.BASH.require();
        Ran ran = Ran.zklock("completion");
        assertThat(ran.code()).isZero();
        Path script = Files.writeString(folder.resolve("zklock"), ran.out());
        assertThat(output("bash", "-c", completing(script, "zklock", "rev"))).isEqualTo("revoke\n");
        assertThat(output("bash", "-c", completing(script, "zklock", "ls", "--wa")))
                .isEqualTo("--watch\n");
        assertThat(ran.out()).contains("bashcompinit").doesNotContain("_demo_worker");
    }

    private static String completing(Path script, String... words) {
        return "source " + script + "; compopt() { :; }; COMP_WORDS=(" + String.join(" ", words) + "); COMP_CWORD="
                + (words.length - 1)
                + "; COMP_LINE=\"${COMP_WORDS[*]}\"; COMP_POINT=${#COMP_LINE}; _complete_zklock; printf '%s\\n' \"${COMPREPLY[@]}\"";
    }
}
