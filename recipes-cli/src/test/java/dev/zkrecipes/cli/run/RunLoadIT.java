// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.test.EmbeddedZooKeeper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Many {@code zklock run} at once. */
@Tag("soak")
class RunLoadIT {
    private static final int RUNS = 200;
    private static final int AT_A_TIME = 16;

    /** Ends at the first run that fails. */
    private static final String LOOP = "while [ \"$RUNS\" -gt 0 ]; do \"$@\" || exit; RUNS=$((RUNS - 1)); done";

    /** Which starts sooner than the jar by itself. */
    private static final Path ZKLOCK = Path.of("../bin/zklock").toAbsolutePath();

    private static final Path JAR = Path.of("target/zklock.jar").toAbsolutePath();

    @TempDir
    private Path folder;

    @Test
    void twoHundredRuns_loseNoIncrementOfAFile() throws IOException, InterruptedException {
        Path counter = Files.writeString(folder.resolve("counter"), "0\n");
        Path err = folder.resolve("err");
        String increment = "n=$(cat '" + counter + "'); echo $((n + 1)) > '" + counter + "'";
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            List<String> command = new ArrayList<>(List.of("sh", "-c", LOOP, "loop"));
            command.addAll(List.of(ZKLOCK.toString(), "run", "/load/counter", "sh", "-c", increment));
            ProcessBuilder builder = new ProcessBuilder(command)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(err.toFile());
            builder.environment()
                    .putAll(Map.of(
                            "ZKLOCK_CONNECT", server.connectString(),
                            "ZKLOCK_JAR", JAR.toString(),
                            "JAVA_HOME", System.getProperty("java.home")));
            List<Process> lanes = new ArrayList<>();
            try {
                for (int lane = 0; lane < AT_A_TIME; lane++) {
                    builder.environment().put("RUNS", String.valueOf(runsOf(lane)));
                    lanes.add(builder.start());
                }
                for (Process lane : lanes) {
                    assertThat(lane.waitFor(300, TimeUnit.SECONDS)).isTrue();
                    assertThat(lane.exitValue()).as(Files.readString(err)).isZero();
                }
            } finally {
                lanes.forEach(lane -> lane.descendants().forEach(ProcessHandle::destroyForcibly));
                lanes.forEach(Process::destroyForcibly);
            }
            assertThat(Files.readString(counter)).isEqualTo(RUNS + "\n");
            assertThat(server.children("/load/counter")).isEmpty();
        }
    }

    private static int runsOf(int lane) {
        return RUNS / AT_A_TIME + (lane < RUNS % AT_A_TIME ? 1 : 0);
    }
}
