// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.bench;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.zkrecipes.cli.Ran;
import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.cli.text.ReadJson;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code zklock bench}, by the real jar on a real server: what it shows, and that it leaves nothing. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@WithZooKeeper
@Tag("soak")
class BenchIT {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final List<String> TOP = List.of("zookeeper");

    @TempDir
    private Path folder;

    private final EmbeddedZooKeeper server;

    BenchIT(EmbeddedZooKeeper server) {
        this.server = server;
    }

    private RunningZkLock bench(String... options) throws IOException, InterruptedException {
        return RunningZkLock.jar(
                folder,
                "-Dzklock.test",
                Stream.concat(Stream.of("bench", "--connect", server.connectString()), Stream.of(options))
                        .toArray(String[]::new));
    }

    @Test
    void everyMeasure_hasALineAndNothingIsLeft() throws IOException, InterruptedException {
        try (RunningZkLock bench = bench("--seconds", "0.1", "--clients", "3")) {
            assertThat(bench.awaitExit()).as(bench.err()).isZero();
            assertThat(bench.complaints()).isEmpty();
            List<String> lines = bench.lines();
            assertThat(lines.get(0)).startsWith(server.connectString()).contains("3 sessions, below /zklock-bench-");
            assertThat(lines.get(1)).matches("MEASURED +TIMES +MEDIAN +P99 +PER SECOND");
            assertThat(lines.subList(2, lines.size()))
                    .hasSize(6)
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
        await().untilAsserted(() -> {
            server.reapContainers(); // as servers do each minute with what the locks have created above
            assertThat(server.children("/")).containsExactlyInAnyOrder("there", "zookeeper");
        });
        assertThat(server.children("/there")).containsExactly("own");
        server.deleteNode("/there/own");
        server.deleteNode("/there");
    }

    @ParameterizedTest
    @CsvSource({"INT, 130", "TERM, 143"})
    void signal_endsItAndNothingIsLeft(String name, int code) throws IOException, InterruptedException {
        try (RunningZkLock bench = bench("--seconds", "600")) {
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
    void json_isOneLineThatOtherProgramsRead() throws IOException, InterruptedException {
        Ran ran = Ran.zklock(
                "bench", "--connect", server.connectString(), "--seconds", "0.05", "--clients", "2", "--json");
        assertThat(ran.code()).as(ran.err()).isZero();
        assertThat(ran.lines()).hasSize(1);
        JsonNode figures = ReadJson.read(ran.out());
        assertThat(figures.required("sessions").asInt()).isEqualTo(2);
        assertThat(figures.required("windowMillis").asInt()).isEqualTo(50);
        assertThat(figures.required("measured"))
                .allSatisfy(each -> {
                    assertThat(each.required("times").asInt()).isPositive();
                    assertThat(each.required("perSecond").asInt()).isPositive();
                    assertThat(each.required("medianMicros").asInt()).isPositive();
                    assertThat(each.required("p99Micros").asInt())
                            .isGreaterThanOrEqualTo(
                                    each.required("medianMicros").asInt());
                })
                .extracting(each -> each.required("name").asText())
                .containsExactly("create", "mutex", "semaphore", "multi-lock", "hand-over", "contended");
    }

    @Test
    void acl_isThatOfEveryNode() throws Exception {
        byte[] credentials = "owner:secret".getBytes(StandardCharsets.UTF_8);
        try (FaultProxy proxy = FaultProxy.to(server);
                ZooKeeperClient owner = TestClients.connect(ZooKeeperClient.builder()
                        .connectString(server.connectString())
                        .auth("digest", credentials))) {
            proxy.latency(
                    Duration.ofMillis(25)); // so that the node of a measurement is there long enough to be looked at
            try (RunningZkLock bench = RunningZkLock.jar(
                    folder,
                    "-Dzklock.test",
                    "bench",
                    "--connect=" + proxy.connectString(),
                    "--auth=digest:owner:secret",
                    "--acl=creator",
                    "--seconds=600",
                    "--clients=2")) {
                List<ACL> acl = await().atMost(SOON)
                        .ignoreException(KeeperException.NoNodeException.class)
                        .until(() -> aclOfCreatedNode(owner), found -> !found.isEmpty());
                assertThat(acl).singleElement().satisfies(entry -> {
                    assertThat(entry.getPerms()).isEqualTo(ZooDefs.Perms.ALL);
                    assertThat(entry.getId().getId()).startsWith("owner:");
                });
                bench.signal("INT");
                assertThat(bench.awaitExit()).isEqualTo(130);
            }
        }
        assertThat(server.children("/")).isEqualTo(TOP);
    }

    /** That of a node which the bench creates and deletes without a lock; empty if there is none now. */
    private List<ACL> aclOfCreatedNode(ZooKeeperClient client) throws KeeperException, InterruptedException {
        for (String scratch : server.children("/")) {
            for (String child : server.children("/" + scratch)) {
                if (child.startsWith("create-")) {
                    return client.zooKeeper().orElseThrow().getACL("/" + scratch + "/" + child, new Stat());
                }
            }
        }
        return List.of();
    }

    @Test
    void missingRights_endWithExitCode77() throws InterruptedException {
        try (EmbeddedZooKeeper guarded = EmbeddedZooKeeper.start()) {
            try (ZooKeeperClient owner = ZooKeeperClient.builder()
                    .connectString(guarded.connectString())
                    .auth("digest", "owner:secret".getBytes(StandardCharsets.UTF_8))
                    .acl(ZooDefs.Ids.CREATOR_ALL_ACL)
                    .build()) {
                new InterProcessMutex(owner, "/mine/lock").acquire().close();
            }
            Ran stranger = Ran.zklock(
                    "bench", "--connect", guarded.connectString(), "--seconds", "0.01", "--clients", "2", "/mine/lock");
            assertThat(stranger.code()).as(stranger.err()).isEqualTo(77);
            assertThat(stranger.err().lines()).singleElement().asString().contains("/mine/lock");
            assertThat(guarded.children("/mine/lock")).isEmpty();
        }
    }
}
