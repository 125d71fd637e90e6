// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import dev.zkrecipes.cli.Ran;
import dev.zkrecipes.cli.ZkLockProcess;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code zklock bench}, by the real jar on a real server: what it shows, and that it leaves nothing. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@WithZooKeeper
@Tag("one-jdk")
class BenchIT {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final List<String> TOP = List.of("zookeeper");

    @TempDir
    private Path folder;

    private final EmbeddedZooKeeper server;

    BenchIT(EmbeddedZooKeeper server) {
        this.server = server;
    }

    private ZkLockProcess bench(String... options) throws IOException, InterruptedException {
        return ZkLockProcess.start(
                Stream.concat(Stream.of("bench", "--connect", server.connectString()), Stream.of(options))
                        .toArray(String[]::new));
    }

    @Test
    void everyMeasure_hasALineAndNothingIsLeft() throws IOException, InterruptedException {
        try (ZkLockProcess bench = bench("--seconds", "0.1", "--clients", "3")) {
            assertThat(bench.awaitExit())
                    .as(() -> bench.complaints().toString())
                    .isZero();
            assertThat(bench.complaints()).isEmpty();
            List<String> lines = bench.lines();
            assertThat(lines.get(0)).startsWith(server.connectString()).contains("3 sessions, below /zklock-bench-");
            assertThat(lines.get(1)).matches("MEASURED +TIMES +MEDIAN +P99 +PER SECOND");
            assertThat(lines.subList(2, lines.size()))
                    .hasSize(Measure.values().length)
                    .allMatch(line -> line.matches(".*[^ ] +[1-9][0-9]* +[0-9.]+ ms +[0-9.]+ ms +[0-9.]+"));
        }
        assertThat(server.children("/")).isEqualTo(TOP);
        assertThat(server.sessions()).isEmpty();
    }

    @Test
    void path_isTakenAndLeftAsItWas() {
        server.createNode("/there", new byte[0]);
        server.createNode("/there/own", new byte[0]);
        for (String path : List.of("/there", "/there/new/below", "/new/below")) {
            Ran ran = Ran.zklock(
                    "bench", "--connect", server.connectString(), "--seconds", "0.01", "--clients", "2", path);
            assertThat(ran.code()).as(ran.err()).isZero();
            assertThat(ran.lines().get(0)).contains(" below " + path + "/zklock-bench-");
        }
        assertThat(server.children("/")).containsExactlyInAnyOrder("there", "zookeeper");
        assertThat(server.children("/there")).containsExactly("own");
        server.deleteNode("/there/own");
        server.deleteNode("/there");
    }

    @ParameterizedTest
    @CsvSource({"INT, 130", "TERM, 143"})
    void signal_endsItAndNothingIsLeft(String name, int code) throws IOException, InterruptedException {
        try (ZkLockProcess bench = bench("--seconds", "600")) {
            await().atMost(SOON).until(() -> server.children("/").stream().anyMatch(this::isMeasured));
            bench.signal(name);
            assertThat(bench.awaitExit()).isEqualTo(code);
            assertThat(bench.complaints()).isEmpty();
        }
        assertThat(server.children("/")).isEqualTo(TOP);
        assertThat(server.sessions()).isEmpty();
    }

    /** Whether a lock has been made below it. */
    private boolean isMeasured(String scratch) {
        return scratch.startsWith("zklock-bench-")
                && !server.children("/" + scratch).isEmpty();
    }

    @Test
    void json_isOneLineThatJqReads() throws IOException, InterruptedException {
        assumeThat(Stream.of(System.getenv("PATH").split(":"))
                        .anyMatch(each -> Files.isExecutable(Path.of(each, "jq"))))
                .isTrue();
        Ran ran = Ran.zklock(
                "bench", "--connect", server.connectString(), "--seconds", "0.05", "--clients", "2", "--json");
        assertThat(ran.code()).as(ran.err()).isZero();
        assertThat(ran.lines()).hasSize(1);
        Path file = Files.writeString(folder.resolve("bench.json"), ran.out());
        Process jq = new ProcessBuilder(
                        "jq",
                        "-c",
                        "[.sessions, .windowMillis, (.measured | map(.name)),"
                                + " (.measured | all(.times > 0 and .medianMicros > 0 and .p99Micros >= .medianMicros))]",
                        file.toString())
                .redirectErrorStream(true)
                .start();
        assertThat(new String(jq.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip())
                .isEqualTo(
                        "[2,50,[\"create\",\"mutex\",\"semaphore\",\"multi-lock\",\"hand-over\",\"contended\"],true]");
    }

    @Test
    void noRights_areTold() {
        try (EmbeddedZooKeeper guarded = EmbeddedZooKeeper.start()) {
            Ran owner = Ran.zklock(
                    "run",
                    "--connect",
                    guarded.connectString(),
                    "--auth",
                    "digest:owner:secret",
                    "--acl",
                    "creator",
                    "/mine/lock",
                    "true");
            assertThat(owner.code()).as(owner.err()).isZero();
            Ran stranger = Ran.zklock(
                    "bench", "--connect", guarded.connectString(), "--seconds", "0.01", "--clients", "2", "/mine/lock");
            assertThat(stranger.code()).as(stranger.err()).isEqualTo(77);
            assertThat(stranger.err().lines()).singleElement().asString().contains("/mine/lock");
            assertThat(guarded.children("/mine/lock")).isEmpty();
        }
    }
}
