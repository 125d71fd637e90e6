// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ZkLockTest {
    @Test
    void version_isPrinted() {
        Ran ran = Ran.zklock("--version");
        assertThat(ran.code()).isZero();
        assertThat(ran.out()).startsWith("zklock ").contains("ZooKeeper client 3.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"help", "help demo", "--help", "demo --help", "run --help", "help run"})
    void help_fitsTheTerminalAndExplainsExitCodes(String line) {
        Ran ran = Ran.zklock(line.split(" "));
        assertThat(ran.code()).isZero();
        assertThat(ran.out()).contains("Exit codes:").doesNotContain("worker.number", "--folder", "[RECIPE] [COMMAND]");
        assertThat(ran.lines()).allSatisfy(printed -> assertThat(printed).hasSizeLessThanOrEqualTo(80));
    }

    /** {@code run} is made alone by {@code main}, which must not show. */
    @ParameterizedTest
    @ValueSource(strings = {"--help", "", "-n", "/a", "-n -w 1 /a b", "--what", "/locks/a true --help"})
    void runAlone_isTheSameCommand(String line) {
        String[] words = line.isEmpty() ? new String[0] : line.split(" ");
        assertThat(Ran.run(ZkLock.runAlone(), words))
                .isEqualTo(Ran.zklock(("run " + line).strip().split(" ")));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "demo --seconds 0     | --seconds is 0, must be 1 to 600",
                "demo --seconds -1    | --seconds is -1",
                "demo --seconds many  | '--seconds'",
                "demo chess                           | chess",
                "demo --what                          | --what",
                "--connect zk1:2181 ls /a             | ; options come after the command",
                "chess                                | chess",
            })
    void wrongCommandLine_isExplainedWithExitCode64(String line, String complaint) {
        Ran ran = Ran.zklock(line.strip().split(" +"));
        assertThat(ran.code()).isEqualTo(64);
        assertThat(ran.err()).startsWith("zklock: ").contains(complaint).contains("--help'");
        assertThat(ran.out()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "demmo                | there is no command 'demmo' | Did you mean: zklock demo?",
                "rnu /locks/a true    | there is no command 'rnu'   | There are run, lead, hold, ",
                "demo --secnds        | Unknown option: '--secnds'  | Possible solutions: --seconds",
                "run --limt 3 /a b    | Unknown option: '--limt'    | Possible solutions: --limit",
                "ls --watsh /a        | Unknown option: '--watsh'   | Possible solutions: --watch",
                "bench --clints 3 /a  | Unknown option: '--clints'  | Possible solutions: --clients",
            })
    void mistypedCommandOrOption_getsASuggestion(String line, String complaint, String suggestion) {
        Ran ran = Ran.zklock(line.split(" +"));
        assertThat(ran.code()).isEqualTo(64);
        assertThat(ran.err().lines().toList())
                .satisfies(lines -> assertThat(lines.get(0)).isEqualTo("zklock: " + complaint))
                .satisfies(lines -> assertThat(lines.get(1)).startsWith(suggestion))
                .hasSize(3);
    }

    @Test
    void noCommand_isExplainedWithExitCode64() {
        Ran ran = Ran.zklock();
        assertThat(ran.code()).isEqualTo(64);
        assertThat(ran.err()).contains("a command is missing");
    }
}
