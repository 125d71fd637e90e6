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
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;

class ScaleTest {
    @Command(name = "bench")
    private static final class Root {}

    /** With the defaults, a run would write the page. */
    @Test
    void busyMachine_writesNoPage() {
        StringWriter err = new StringWriter();
        CommandLine command = new CommandLine(new Root()).addSubcommand(new Scale(() -> 1.1));
        command.setErr(new PrintWriter(err, true));
        assertThat(command.execute("scale")).isEqualTo(ExitCode.SOFTWARE);
        assertThat(err.toString())
                .startsWith("The load of this machine is 1.1.")
                .contains("--out");
    }

    @Test
    void report_takesThePlaceOfTheOneOnThePage() throws IOException {
        String page = Files.readString(Path.of("../../docs/scale.md"));
        String report = "costs $1 \\ and no more\n";
        String changed = Scale.insert(report, page);
        assertThat(changed).contains(" -->\n" + report + "<!-- End").endsWith(page.substring(page.indexOf("<!-- End")));
        assertThat(Scale.insert(report, changed)).isEqualTo(changed);
    }
}
