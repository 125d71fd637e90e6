// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code bin/zklock} started with standard input, output or error closed, as some daemons start their jobs. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@WithZooKeeper
class ClosedStreamsIT {
    private static final Path ZKLOCK = Path.of("../bin/zklock").toAbsolutePath();
    private static final Path JAR = Path.of("target/zklock.jar").toAbsolutePath();

    @TempDir
    private Path folder;

    private final EmbeddedZooKeeper server;

    ClosedStreamsIT(EmbeddedZooKeeper server) {
        this.server = server;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "<&- | wc -c           | 0",
                ">&- | echo lost       | ''",
                "2>&- | echo x >&2 && echo kept | kept",
            })
    void closedStream_isEmptyForTheCommand(String closing, String command, String printed)
            throws IOException, InterruptedException {
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        List<String> line = new ArrayList<>(List.of("sh", "-c", "exec \"$@\" " + closing, "sh"));
        line.addAll(List.of(ZKLOCK.toString(), "run", "/closed", "sh", "-c", command + "; exit 3"));
        ProcessBuilder builder =
                new ProcessBuilder(line).redirectOutput(out.toFile()).redirectError(err.toFile());
        builder.environment()
                .putAll(Map.of(
                        "ZKLOCK_CONNECT", server.connectString(),
                        "ZKLOCK_JAR", JAR.toString(),
                        "ZKLOCK_CDS", "off",
                        "JAVA_HOME", System.getProperty("java.home")));
        Process process = builder.start();
        try {
            assertThat(process.waitFor(RunningZkLock.LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            assertThat(process.exitValue()).as(Files.readString(err)).isEqualTo(3);
            assertThat(Files.readString(out).strip()).isEqualTo(printed);
            assertThat(Files.readString(err)).isEmpty();
        } finally {
            process.destroyForcibly();
        }
    }
}
