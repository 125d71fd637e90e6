// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.test.internal.Lateness;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The real demo, in processes of its own. */
class DemoIT {
    private static final Duration SOON = Duration.ofSeconds(10);
    /** Half of what the demo allows the machine for a take-over. */
    private static final Duration LATE = Duration.ofMillis(500);

    private static final int TRIES = 3;

    @TempDir
    private Path folder;

    @TempDir
    private Path temporary;

    private RunningZkLock demo(String... arguments) throws IOException, InterruptedException {
        return RunningZkLock.jar(
                folder,
                "-Djava.io.tmpdir=" + temporary,
                Stream.concat(Stream.of("demo"), Stream.of(arguments)).toArray(String[]::new));
    }

    /** A worker with a mutex that nobody else knows. */
    static final class Sabotage {
        private Sabotage() {}

        public static void main(String[] args) {
            System.exit(new CommandLine(new DemoWorker("/demo/lock-of-" + args[0])).execute(args));
        }
    }

    @Test
    void workersThatDoNotExcludeEachOther_fail() throws IOException, InterruptedException {
        StringWriter out = new StringWriter();
        boolean late = true;
        for (int tries = 1; late && tries <= TRIES; tries++) {
            out.getBuffer().setLength(0);
            boolean passed = new Demo(
                            Duration.ofSeconds(1),
                            DemoCommand.workerCommand(Sabotage.class),
                            new PrintWriter(out, true))
                    .run();
            assertThat(passed).as(out.toString()).isFalse();
            late = out.toString().contains("the victim never came to hold"); // so slow a machine shows nothing
        }
        assertThat(out.toString().lines())
                .anyMatch(line -> line.matches("  FAILED  rule +one at a time: violated .*"))
                .last()
                .asString()
                .startsWith("FAILED: ");
    }

    @Test
    @Tag("soak")
    void demo_passesAndLeavesNothing() throws IOException, InterruptedException {
        boolean passed = false;
        for (int tries = 1; !passed; tries++) {
            passed = passesAndLeavesNothing(tries == TRIES);
        }
    }

    /** Unless only the take-over was late, on a machine that was late itself. */
    private boolean passesAndLeavesNothing(boolean last) throws IOException, InterruptedException {
        try (Lateness lateness = Lateness.measure();
                RunningZkLock demo = demo("--seconds", "5")) {
            demo.awaitLine("HOLDS");
            List<ProcessHandle> children = demo.children();
            int code = demo.awaitExit();
            if (!last
                    && demo.lines().stream().anyMatch(line -> line.startsWith("  FAILED  take-over"))
                    && demo.lines().contains("FAILED: 1 of 7 checks")
                    && lateness.soFar().compareTo(LATE) > 0) {
                return false;
            }
            assertThat(code).as(String.join("\n", demo.lines())).isZero();
            assertThat(demo.complaints()).noneMatch(line -> line.contains("ERROR"));
            assertThat(demo.lines())
                    .endsWith("PASSED")
                    .allSatisfy(line ->
                            assertThat(line).hasSizeLessThanOrEqualTo(80).doesNotContain("\033", "FAILED"))
                    .anyMatch(line -> line.contains("KILLED (kill -9)"))
                    .anyMatch(line -> line.contains("TOOK OVER after"))
                    .anyMatch(line -> line.matches("  w2  .*#?=+x+"))
                    .anyMatch(line -> line.matches("  ok +updates +(\\d+) counted = \\1 made under the lock"));
            assertThat(children).hasSize(4).noneMatch(ProcessHandle::isAlive);
            assertThat(temporary).isEmptyDirectory();
            return true;
        }
    }

    /** Ctrl-C, which a terminal sends to all processes in the foreground. */
    @Test
    @Tag("soak")
    void interruptedDemo_leavesNothing() throws IOException, InterruptedException {
        try (RunningZkLock demo = demo()) {
            demo.awaitLine("KILLED");
            List<ProcessHandle> children = demo.children();
            for (ProcessHandle child : children) {
                new ProcessBuilder("kill", "-INT", String.valueOf(child.pid()))
                        .start()
                        .waitFor();
            }
            demo.signal("INT");
            assertThat(demo.awaitExit()).isEqualTo(130);
            assertThat(demo.lines()).last().asString().startsWith("interrupted");
            assertNoneAlive(children);
            assertThat(temporary).isEmptyDirectory();
        }
    }

    @Test
    @Tag("soak")
    void killedDemo_takesItsChildrenWithIt() throws IOException, InterruptedException {
        try (RunningZkLock demo = demo()) {
            demo.awaitLine("HOLDS");
            List<ProcessHandle> children = demo.children();
            demo.signal("KILL");
            assertThat(demo.awaitExit()).isEqualTo(128 + 9);
            assertNoneAlive(children);
            await().atMost(SOON).untilAsserted(() -> assertThat(temporary).isEmptyDirectory());
        }
    }

    private static void assertNoneAlive(List<ProcessHandle> children) {
        assertThat(children).isNotEmpty();
        await().atMost(SOON).until(() -> children.stream().noneMatch(ProcessHandle::isAlive));
    }
}
