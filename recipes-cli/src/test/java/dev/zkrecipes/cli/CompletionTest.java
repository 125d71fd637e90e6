// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The script of {@code zklock completion}, in bash. */
class CompletionTest {
    /** An option in the help, with its short name and its value if it has them. */
    private static final Pattern OPTION = Pattern.compile("(?m)^ {2}(-\\w,)? +(--[\\w-]+)(?:=(\\S+))?");

    private static final Pattern COMMAND = Pattern.compile("(?m)^ {2}(\\w+) +[A-Z]");

    @TempDir
    private Path folder;

    private Path script;

    @BeforeEach
    void printScript() throws IOException {
        Tool.BASH.require();
        Ran ran = Ran.zklock("completion");
        assertThat(ran.code()).isZero();
        assertThat(ran.out()).contains("bashcompinit");
        script = Files.writeString(folder.resolve("zklock"), ran.out());
    }

    static Stream<String> commands() {
        return COMMAND.matcher(Ran.zklock("--help").out()).results().map(found -> found.group(1));
    }

    @Test
    void commands_areThoseOfTheHelp() throws IOException, InterruptedException {
        assertThat(commands()).contains("run", "bench");
        assertThat(completed("zklock", "''")).containsAll(commands().toList());
        assertThat(completed("zklock", "rev")).containsExactly("revoke");
    }

    @ParameterizedTest
    @MethodSource("commands")
    void completion_offersWhatTheHelpSays(String command) throws IOException, InterruptedException {
        Matcher help = OPTION.matcher(Ran.zklock(command, "--help").out());
        Set<String> options = new TreeSet<>();
        while (help.find()) {
            if (help.group(1) != null) {
                options.add(help.group(1).replace(",", ""));
            }
            options.add(help.group(2));
            if (help.group(3) != null) {
                List<String> values =
                        help.group(3).contains("|") ? List.of(help.group(3).split("\\|")) : List.of();
                assertThat(completed("zklock", command, help.group(2), "''"))
                        .as(help.group())
                        .isEqualTo(values);
            }
        }
        assertThat(options).contains("--help");
        assertThat(completed("zklock", command, "-")).containsExactlyInAnyOrderElementsOf(options);
    }

    private List<String> completed(String... words) throws IOException, InterruptedException {
        String line = "source " + script + "; compopt() { :; }; COMP_WORDS=(" + String.join(" ", words)
                + "); COMP_CWORD=" + (words.length - 1)
                + "; COMP_LINE=\"${COMP_WORDS[*]}\"; COMP_POINT=${#COMP_LINE}; _complete_zklock; printf '%s\\n' \"${COMPREPLY[@]}\"";
        Process bash = new ProcessBuilder("bash", "-c", line)
                .directory(Files.createDirectories(folder.resolve("empty")).toFile()) // there are no files to offer
                .redirectErrorStream(true)
                .start();
        String text = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(bash.waitFor()).as(text).isZero();
        return text.lines().filter(each -> !each.isEmpty()).toList();
    }
}
