// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.cli.Tool;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.internal.Soon;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** {@code zklock ls --watch} from the jar. Its server is its own, as it counts requests and stops it. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Execution(ExecutionMode.CONCURRENT)
class LsWatchIT {
    private static final Duration LIMIT = RunningZkLock.LIMIT;

    @TempDir
    private Path folder;

    private EmbeddedZooKeeper server;
    private ZooKeeperClient client;
    private InterProcessLock mutex;

    @BeforeEach
    void start() throws InterruptedException {
        server = EmbeddedZooKeeper.start();
        client = TestClients.connect(ZooKeeperClient.builder()
                .connectString(server.connectString())
                .sessionTimeout(TestClients.LONG_SESSION)
                .ownerLabel("orders 7"));
        mutex = new InterProcessMutex(client, "/locks/x");
    }

    @AfterEach
    void stop() {
        client.close();
        server.close();
    }

    private RunningZkLock watch(String... arguments) throws Exception {
        return RunningZkLock.jar(
                folder,
                "-Dzklock.test",
                Stream.concat(Stream.of("ls", "--watch", "--connect", server.connectString()), Stream.of(arguments))
                        .toArray(String[]::new));
    }

    @Test
    void changes_areShownUntilASignal_withoutPolling() throws Exception {
        try (RunningZkLock ls = watch("/locks/x")) {
            ls.awaitLine("/locks/x: free");
            Lease lease = Soon.get(mutex.acquireAsync());
            ls.awaitLine("/locks/x: mutex, 1 holds, 0 wait");
            RequestCounts before = server.requests();
            CompletableFuture<Lease> next = mutex.acquireAsync();
            ls.awaitLine("/locks/x: mutex, 1 holds, 1 waits");
            assertThat(next).isNotDone();
            lease.close();
            await().atMost(LIMIT).until(() -> {
                List<String> lines = ls.lines(); // once: it goes on printing
                return lines.get(lines.size() - 1).contains("holds")
                        && lines.stream()
                                        .filter(line -> line.contains("1 holds, 0 wait"))
                                        .count()
                                >= 2;
            });
            RequestCounts asked = server.requests().minus(before);
            // Each change is one list and one read of the path; each new node one read. The rest is the waiter's.
            assertThat(asked.of(RequestType.GET_DATA)).isLessThanOrEqualTo(6);
            long free = timesFree(ls); // once, or twice if it saw the path before the first node
            server.expireSession(client.zooKeeper().orElseThrow().getSessionId());
            await().atMost(LIMIT).until(() -> timesFree(ls) == free + 1);
            ls.signal("INT");
            assertThat(ls.awaitExit()).isEqualTo(130);
            assertThat(ls.complaints()).isEmpty();
        }
        // Its session ended with it.
        await().atMost(LIMIT).until(() -> server.sessions().size() <= 1);
    }

    private static long timesFree(RunningZkLock ls) throws IOException {
        return ls.lines().stream().filter(line -> line.equals("/locks/x: free")).count();
    }

    @Test
    void watchedTree_showsNewLocksAndNewLimits() throws Exception {
        try (RunningZkLock ls = watch("-r", "/")) {
            ls.awaitLine("/: 0 locks, 0 held");
            Soon.get(mutex.acquireAsync());
            ls.awaitLine("/locks/x  mutex");
            InterProcessSemaphore semaphore = new InterProcessSemaphore(client, "/deep/down/imports", 3);
            Soon.get(semaphore.permits(2).acquireAsync());
            ls.awaitLine("/deep/down/imports  semaphore of 3 permits");
            semaphore.resize(5);
            ls.awaitLine("/deep/down/imports  semaphore of 5 permits");
        }
    }

    @Test
    void serverRestart_doesNotEndTheWatch_andJsonIsALineForEachState() throws Exception {
        try (RunningZkLock ls = watch("--json", "/locks/x")) {
            ls.awaitLine("\"exists\":false");
            Soon.get(mutex.acquireAsync());
            ls.awaitLine("\"holding\":1,\"waiting\":0");
            server.stop();
            await().atMost(LIMIT)
                    .until(() -> ls.complaints().stream()
                            .anyMatch(line ->
                                    line.startsWith("zklock: not connected; the state shown here was seen at ")));
            server.restart();
            await().atMost(LIMIT).until(() -> client.awaitConnected(LIMIT));
            CompletableFuture<Lease> next = mutex.acquireAsync();
            ls.awaitLine("\"holding\":1,\"waiting\":1");
            assertThat(next).isNotDone();
            assertThat(ls.lines()).allMatch(line -> line.startsWith("{") && line.endsWith("}"));
        }
    }

    @Test
    void closedPipe_endsIt() throws Exception {
        Path shown = folder.resolve("shown");
        String command = String.join(" ", RunningZkLock.java()) + " ls --watch --connect " + server.connectString()
                + " /locks/x; echo \"ended $?\" >&2";
        Process shell = new ProcessBuilder("sh", "-c", "{ " + command + "; } | head -n 2 > " + shown).start();
        await().atMost(LIMIT)
                .until(() -> Files.exists(shown) && Files.readAllLines(shown).size() == 2);
        // The reader may be gone somewhat later than its lines are there, so changes go on until one finds it gone.
        await().atMost(LIMIT).until(() -> {
            Soon.get(Soon.get(mutex.acquireAsync()).closeAsync());
            return !shell.isAlive();
        });
        String complaints = new String(shell.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(complaints).isEqualTo("ended 0\n");
        assertThat(shell.waitFor()).isZero();
    }

    @Test
    void terminal_isDrawnOverEachSecond_withoutPolling() throws Exception {
        Tool.SCRIPT.require();
        Soon.get(Soon.get(mutex.acquireAsync()).closeAsync()); // makes the path, which would be one picture more
        Path typescript = folder.resolve("typescript");
        String command = String.join(" ", RunningZkLock.java()) + " ls --watch --connect " + server.connectString()
                + " /locks/x";
        ProcessBuilder builder = new ProcessBuilder(List.of("script", "-q", "-f", "-c", command, typescript.toString()))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD);
        builder.environment().put("TERM", "xterm");
        Process script = builder.start();
        try {
            await().atMost(LIMIT)
                    .until(() -> Files.exists(typescript)
                            && Files.readString(typescript).contains("/locks/x: free"));
            Soon.get(mutex.acquireAsync());
            await().atMost(LIMIT).until(() -> Files.readString(typescript).contains("/locks/x: mutex, 1 holds"));
            RequestCounts before = server.requests();
            int drawn = Files.readString(typescript).split("\033\\[H", -1).length;
            await().atMost(LIMIT).until(() -> Files.readString(typescript).split("\033\\[H", -1).length >= drawn + 3);
            assertThat(Files.readString(typescript)).contains("GRANTED").containsPattern("[1-9][0-9]*s ago");
            RequestCounts asked = server.requests().minus(before);
            assertThat(asked.of(RequestType.GET_DATA) + asked.of(RequestType.GET_CHILDREN))
                    .isZero();
        } finally {
            script.descendants().forEach(ProcessHandle::destroy);
            script.destroy();
        }
    }
}
