// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.bench.cases.BenchCase;
import dev.zkrecipes.bench.cases.Cases;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.ExitCode;

class BenchTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... args) {
        CommandLine command = Bench.commandLine();
        command.setOut(new PrintWriter(out, true));
        command.setErr(new PrintWriter(err, true));
        return command.execute(args);
    }

    @Test
    void list_namesEveryCase_andStartsNothing() {
        assertThat(run("--list")).isEqualTo(ExitCode.OK);
        assertThat(out.toString()).contains("ways-to-wait");
        assertThat(Cases.all())
                .extracting(BenchCase::name)
                .allMatch(name -> out.toString().contains(name + " "));
    }

    @Test
    void unknownCase_isRefused() {
        assertThat(run("--case", "uncontented")).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).contains("no such case: uncontented", "--list");
    }

    @Test
    void noRounds_isRefused() {
        assertThat(run("--rounds", "0")).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).contains("--rounds");
    }

    @Test
    void unknownRoundTrip_isRefused() {
        assertThat(run("--case", "reentrant", "--round-trip", "10")).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).contains("nothing to measure");
    }
}
