// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.scale;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.ExitCode;

class ScaleTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... args) {
        CommandLine command = Scale.commandLine();
        command.setOut(new PrintWriter(out, true));
        command.setErr(new PrintWriter(err, true));
        return command.execute(args);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--servers  | 1,2    | --servers must be 1 or 3, not [1, 2]",
                "--sessions | 0,5    | --sessions must be from 1 to 5000: [0, 5]",
                "--sessions | 5,6000 | --sessions must be from 1 to 5000: [5, 6000]",
                "--sessions | 5,5    | --sessions must ascend: [5, 5]",
                "--warm-up  | -1     | --warm-up must not be negative: -1",
                "--seconds  | 0      | --seconds must be more than 0",
                "--log      | tape   | '--log'",
                "--contender| them   | '--contender'",
            })
    void wrongOption_isRefusedByName_andStartsNothing(String option, String value, String message) {
        assertThat(run(option, value)).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).contains(message);
    }

    @Test
    void report_takesThePlaceOfTheOneOnThePage() throws IOException {
        String page = Files.readString(Path.of("../../docs/scale.md"));
        String report = "costs $1 \\ and no more\n";
        String changed = Scale.insert(report, page);
        assertThat(changed).contains(" -->\n" + report + "<!-- End").endsWith(page.substring(page.indexOf("<!-- End")));
        assertThat(Scale.insert(report, changed)).isEqualTo(changed);
    }

    @Test
    void help_saysHowLongItTakes_andWhatItWrites() {
        assertThat(run("--help")).isEqualTo(ExitCode.OK);
        assertThat(out.toString()).contains("90 % of that", "20 minutes", "docs/dev/bench", "1,5,20,100,500,2000)");
    }
}
