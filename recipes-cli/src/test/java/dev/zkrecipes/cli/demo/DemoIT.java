// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.zkrecipes.test.EmbeddedZooKeeper;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The real demo, in processes of its own. */
@Tag("soak")
class DemoIT {
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final int TRIES = 3;

    @TempDir
    private Path temporary;

    private static void assertNoneAlive(List<ProcessHandle> children) {
        assertThat(children).isNotEmpty();
        await().atMost(SOON).until(() -> children.stream().noneMatch(ProcessHandle::isAlive));
    }

    /** One run, unless it was held up; that of the last try counts in any case. */
    private interface Play {
        boolean isOver(boolean last) throws IOException, InterruptedException;
    }

    private static void play(Play play) throws IOException, InterruptedException {
        boolean over = false;
        for (int tries = 1; !over; tries++) {
            over = play.isOver(tries == TRIES);
        }
    }

    @Test
    void demo_passesAndLeavesNothing() throws IOException, InterruptedException {
        play(this::passesAndLeavesNothing);
    }

    private boolean passesAndLeavesNothing(boolean last) throws IOException, InterruptedException {
        try (RunningDemo demo = RunningDemo.start(temporary, "--seconds", "6")) {
            demo.awaitLine("acquire, add 1");
            List<ProcessHandle> children = demo.children();
            assertThat(children).hasSize(5);
            int code = demo.awaitExit();
            if (demo.wasHeldUp() && !last) {
                return false;
            }
            assertThat(code).as(String.join("\n", demo.lines())).isZero();
            assertThat(demo.linesOfAFastMachine())
                    .endsWith("PASSED")
                    .allSatisfy(line -> assertThat(line)
                            .hasSizeLessThanOrEqualTo(80)
                            .doesNotContain("\033", "FAILED", "WARN", "ERROR"))
                    .anyMatch(line -> line.contains("KILLED (kill -9)"))
                    .anyMatch(line -> line.contains("TOOK OVER from w2"))
                    .anyMatch(line -> line.matches("  ok +increments +\\d+ counted in the file = \\d+ made .*"));
            assertThat(demo.linesOfAFastMachine()).hasSizeLessThanOrEqualTo(40);
            assertThat(children).noneMatch(ProcessHandle::isAlive);
            assertThat(temporary).isEmptyDirectory();
            return true;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rwlock", "semaphore", "multilock"})
    void demoOfEachRecipe_passesAndLeavesNothing(String recipe) throws IOException, InterruptedException {
        play(last -> passesAndLeavesNothing(recipe, last));
    }

    private boolean passesAndLeavesNothing(String recipe, boolean last) throws IOException, InterruptedException {
        try (RunningDemo demo = RunningDemo.start(temporary, recipe, "--seconds", "5", "--workers", "3")) {
            int code = demo.awaitExit();
            if (demo.wasHeldUp() && !last) {
                return false;
            }
            assertThat(code).as(String.join("\n", demo.lines())).isZero();
            assertThat(demo.linesOfAFastMachine())
                    .endsWith("PASSED")
                    .allSatisfy(line -> assertThat(line)
                            .hasSizeLessThanOrEqualTo(80)
                            .doesNotContain("\033", "FAILED", "WARN", "ERROR"))
                    .anyMatch(line -> line.contains("TOOK OVER from w2"))
                    .anyMatch(line -> line.matches("  ok +rule +.*: never violated"));
            assertThat(temporary).isEmptyDirectory();
            return true;
        }
    }

    @Test
    void interruptedDemo_leavesNothing() throws IOException, InterruptedException {
        try (RunningDemo demo = RunningDemo.start(temporary)) {
            demo.awaitLine("acquire, add 1");
            List<ProcessHandle> children = demo.children();
            demo.interruptAll();
            assertThat(demo.awaitExit()).isEqualTo(130);
            assertThat(demo.lines()).last().asString().startsWith("interrupted");
            assertNoneAlive(children);
            assertThat(temporary).isEmptyDirectory();
        }
    }

    @Test
    void killedDemo_takesItsChildrenWithIt() throws IOException, InterruptedException {
        try (RunningDemo demo = RunningDemo.start(temporary)) {
            demo.awaitLine("acquire, add 1");
            List<ProcessHandle> children = demo.children();
            demo.kill();
            assertThat(demo.awaitExit()).isEqualTo(128 + 9);
            assertNoneAlive(children);
            assertThat(temporary).isEmptyDirectory();
        }
    }

    @Test
    void demoOnAnEnsemble_removesItsPath() throws IOException, InterruptedException {
        play(this::passesAndRemovesItsPath);
    }

    private boolean passesAndRemovesItsPath(boolean last) throws IOException, InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                RunningDemo demo = RunningDemo.start(
                        temporary, "--seconds=5", "--workers=2", "--tick=500", "--connect=" + server.connectString())) {
            int code = demo.awaitExit();
            if (demo.wasHeldUp() && !last) {
                return false;
            }
            assertThat(code).as(String.join("\n", demo.lines())).isZero();
            assertThat(server.children("/")).containsExactly("zookeeper");
            assertThat(temporary).isEmptyDirectory();
            return true;
        }
    }

    @Test
    void demoOnAnEnsemble_interruptedWhileADeadWorkerHolds_removesItsPath() throws IOException, InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                RunningDemo demo = RunningDemo.start(temporary, "--connect=" + server.connectString())) {
            demo.awaitLine("KILLED");
            List<ProcessHandle> children = demo.children();
            demo.interruptAll();
            assertThat(demo.awaitExit()).isEqualTo(130);
            assertNoneAlive(children);
            assertThat(server.children("/")).containsExactly("zookeeper");
            assertThat(temporary).isEmptyDirectory();
        }
    }

    @Test
    void silentEnsemble_endsWithExitCode69() throws IOException, InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            server.stop();
            try (RunningDemo demo = RunningDemo.start(temporary, "--connect=" + server.connectString())) {
                assertThat(demo.awaitExit()).isEqualTo(69);
                assertThat(demo.lines())
                        .contains("zklock: no server of " + server.connectString() + " answered within 8.0 s");
            }
        }
        assertThat(temporary).isEmptyDirectory();
    }

    @Test
    void missingChroot_endsWithExitCode69() throws IOException, InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                RunningDemo demo = RunningDemo.start(temporary, "--connect=" + server.connectString() + "/none")) {
            assertThat(demo.awaitExit()).isEqualTo(69);
            assertThat(String.join(" ", demo.lines())).contains("does not exist; create it first");
        }
        assertThat(temporary).isEmptyDirectory();
    }
}
