// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which processes still run. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@EnabledOnOs(OS.LINUX)
class LivenessTest {
    private static final String REST = " 10 11 12 0 -1 4227084 98 0 0 0 0 0 0 0 20 0 ";

    /** A process that does not reap, and its child, which ends when it is told to: a shell might reap it before it becomes that process. */
    private record Parent(Process process, long child) implements AutoCloseable {
        static Parent of(String prefix) throws IOException {
            Process process = new ProcessBuilder(
                            "sh", "-c", "exec 3<&0; " + prefix + " cat <&3 >/dev/null & echo $!; exec sleep 1000")
                    .start();
            BufferedReader output = process.inputReader(StandardCharsets.US_ASCII);
            return new Parent(process, Long.parseLong(output.readLine()));
        }

        ProcessHandle dead() throws IOException {
            Path name = Path.of("/proc", String.valueOf(process.pid()), "comm");
            await().atMost(RunningZkLock.LIMIT)
                    .until(() -> Files.readString(name).strip().equals("sleep"));
            process.getOutputStream().close();
            await().atMost(RunningZkLock.LIMIT)
                    .until(() -> RunSignalIT.state(child).startsWith("Z"));
            return ProcessHandle.of(child).orElseThrow();
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }

    @Test
    void deadButUnreapedProcess_doesNotRun() throws IOException {
        try (Parent parent = Parent.of("")) {
            ProcessHandle dead = parent.dead();
            assertThat(dead.isAlive()).as("what Java says").isTrue();
            assertThat(Liveness.isRunning(dead)).isFalse();
            assertThat(Liveness.isRunning(parent.process().toHandle())).isTrue();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "(sleep) Z, 1, true",
        "(sleep) X, 0, true",
        "(sleep) S, 1, false",
        "(sleep) T, 1, false",
        "(a) Z 1 (b) S, 1, false",
        "(a) S 1) Z, 1, true",
        "(first thread ended) Z, 3, false",
    })
    void stateStandsBehindTheName(String nameAndState, int threads, boolean dead) {
        assertThat(Liveness.isDead("4711 " + nameAndState + REST + threads + " 0 416710 0 0\n"))
                .isEqualTo(dead);
    }

    @Test
    void whatKillDoesNotEnd_isWaitedForNoLongerThanTheLimit() throws IOException, InterruptedException {
        try (Parent parent = Parent.of("")) {
            ProcessHandle undying = parent.process().toHandle();
            assertThat(Liveness.runningAfter(Duration.ofMillis(50), Set.of(undying, parent.dead())))
                    .containsExactly(undying);
        }
    }

    /** The group has a dead process and nothing else. The shell that ends it has the command's whole grace, an hour. */
    @ParameterizedTest
    @ValueSource(strings = {"setsid", ""})
    void groupOfTheDead_isNotGivenTheGrace(String prefix) throws IOException, InterruptedException {
        try (Parent parent = Parent.of(prefix)) {
            Process ending = new ProcessGroup(parent.dead().pid()).end(Duration.ofHours(1));
            try {
                assertThat(ending.waitFor(RunningZkLock.LIMIT.toSeconds() / 3, TimeUnit.SECONDS))
                        .as("ended")
                        .isTrue();
            } finally {
                ending.destroyForcibly();
            }
        }
    }
}
