// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code bin/load-figures}, on the class path that it has. */
@Timeout(150)
class LoadFiguresIT {
    private static final Path SCRIPT = Path.of("..", "bin", "load-figures");

    @TempDir
    private Path folder;

    private record Ended(int status, String output) {}

    private Ended run(String... arguments) throws Exception {
        Path output = folder.resolve("output");
        List<String> command = Stream.concat(Stream.of("bash", SCRIPT.toString()), Stream.of(arguments))
                .toList();
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            boolean ended = process.waitFor(120, TimeUnit.SECONDS);
            assertThat(ended).as(Files.readString(output)).isTrue();
            return new Ended(process.exitValue(), Files.readString(output));
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    @Test
    void figure_isPrinted() throws Exception {
        Ended ended = run("drain", "10");
        assertThat(ended.output()).startsWith("10 waiters drained: all in ");
        assertThat(ended.status()).isZero();
    }

    @Test
    void figureThatFails_isNamedAndFailsTheScript() throws Exception {
        Ended ended = run("no-such-figure", "10");
        assertThat(ended.output()).contains("no-such-figure 10: ended with status 1");
        assertThat(ended.status()).isEqualTo(1);
    }
}
