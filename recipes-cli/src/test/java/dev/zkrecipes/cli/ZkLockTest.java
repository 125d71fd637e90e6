// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class ZkLockTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... args) {
        CommandLine command =
                ZkLock.commandLine().setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
        return command.execute(args);
    }

    @Test
    void version_isPrinted() {
        assertThat(run("--version")).isZero();
        assertThat(out.toString()).startsWith("zklock ").contains("ZooKeeper client 3.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"help", "help demo", "--help", "demo --help", "run --help", "help run"})
    void help_fitsTheTerminalAndExplainsExitCodes(String line) {
        assertThat(run(line.split(" "))).isZero();
        assertThat(out.toString()).contains("Exit codes:").doesNotContain("worker.number", "--folder");
        assertThat(out.toString().lines())
                .allSatisfy(printed -> assertThat(printed).hasSizeLessThanOrEqualTo(80));
    }

    /** {@code run} is made alone by {@code main}, which must not show. */
    @ParameterizedTest
    @ValueSource(strings = {"--help", "", "-n", "/a", "-n -w 1 /a b", "--what", "/locks/a true --help"})
    void runAlone_isTheSameCommand(String line) {
        String[] words = line.isEmpty() ? new String[0] : line.split(" ");
        StringWriter alone = new StringWriter();
        PrintWriter all = new PrintWriter(alone, true);
        int code = ZkLock.runAlone().setOut(all).setErr(all).execute(words);
        assertThat(run(("run " + line).strip().split(" "))).isEqualTo(code);
        assertThat(alone.toString()).isEqualTo(out.toString() + err);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "demo --workers 0                     | --workers is 0, must be 2 to 20",
                "demo --workers 1                     | one is killed, another takes over",
                "demo --workers 21                    | --workers is 21",
                "demo --workers many                  | '--workers'",
                "demo --seconds 4                     | --seconds is 4, must be 5 to 3600",
                "demo --seconds -1                    | --seconds is -1",
                "demo --connect 127.0.0.1:port        | --connect: malformed connect string \"127.0.0.1:port\"",
                "demo --connect a,,b                  | malformed connect string",
                "demo --tick 100                      | --tick belongs to --connect",
                "demo --connect 127.0.0.1:1 --tick 0  | --tick is 0",
                "demo chess                           | chess",
                "demo --what                          | --what",
                "chess                                | chess",
            })
    void wrongCommandLine_isExplainedWithExitCode64(String line, String complaint) {
        assertThat(run(line.strip().split(" +"))).isEqualTo(64);
        assertThat(err.toString()).startsWith("zklock: ").contains(complaint).contains("--help'");
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void noCommand_isExplainedWithExitCode64() {
        assertThat(run()).isEqualTo(64);
        assertThat(err.toString()).contains("a command is missing");
    }
}
