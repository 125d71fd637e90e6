// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.ExitCode;

/** What the command lines refuse, before anything is started. */
class BenchTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String commandLine) {
        CommandLine command = Bench.commandLine();
        command.setOut(new PrintWriter(out, true));
        command.setErr(new PrintWriter(err, true));
        return command.execute(commandLine.split(" "));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--case uncontented               | no such case: uncontented; --list names them",
                "--rounds 0                       | --rounds must be 1 or more, not 0",
                "--case reentrant --round-trip 10 | nothing to measure",
                "scale --servers 1,2              | --servers must be 1 or 3, not [1, 2]",
                "scale --sessions 0,5             | --sessions must be from 1 to 3000: [0, 5]",
                "scale --sessions 5,6000          | --sessions must be from 1 to 3000: [5, 6000]",
                "scale --sessions 5,5             | --sessions must ascend: [5, 5]",
                "scale --log tape                 | '--log'",
                "faults --out src                 | src exists already",
            })
    void wrongOption_isRejectedByName(String commandLine, String message) {
        assertThat(run(commandLine)).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).contains(message);
    }

    @Test
    void list_namesEveryCase() {
        assertThat(run("--list")).isEqualTo(ExitCode.OK);
        assertThat(out.toString()).contains("uncontended ", "waiters-10000 ");
    }

    @Test
    void help_saysHowLongScaleTakes_andWhatItWrites() {
        assertThat(run("scale --help")).isEqualTo(ExitCode.OK);
        assertThat(out.toString()).contains("90 % of that", "25 minutes", "docs/dev/bench", "1,5,20,100,500,2000)");
    }
}
