// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The launcher and the JVM beside it: what each does when the other is gone, or stands still. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Execution(ExecutionMode.CONCURRENT)
class KeeperIT {
    private static final String OBEDIENT = "trap 'echo told; exit 3' TERM; echo pid $$; while :; do sleep 0.1; done";
    private static final String DEAF = "trap '' TERM; echo pid $$; while :; do sleep 0.1; done";

    private static final String TOLD_AND_DEAF = "trap 'echo told' TERM; echo pid $$; while :; do sleep 0.1; done";

    @TempDir
    private Path folder;

    private static EmbeddedZooKeeper quickServer() {
        return EmbeddedZooKeeper.builder().tickTime(Duration.ofMillis(200)).start();
    }

    private RunningZkLock run(EmbeddedZooKeeper server, String... arguments) throws IOException, InterruptedException {
        return RunningZkLock.start(folder, server, arguments);
    }

    private static boolean runs(long pid) throws IOException {
        String state = RunSignalIT.state(pid);
        return !state.isEmpty() && !state.startsWith("Z");
    }

    @Test
    void killedKeeper_isALoss() throws IOException, InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                RunningZkLock zklock = run(server, "run", "/keeper", "sh", "-c", OBEDIENT)) {
            long pid = zklock.number("pid");
            zklock.keeper().destroyForcibly();
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(76);
            assertThat(runs(pid)).isFalse();
            assertThat(zklock.out()).contains("told");
            assertThat(zklock.err()).contains("has ended (signal 9); the command is being ended");
        }
    }

    @Test
    void killedKeeper_leavesACommandRunningThatMayOutliveItsLock() throws IOException, InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                RunningZkLock zklock =
                        run(server, "run", "--on-lost=ignore", "/keeper", "sh", "-c", "echo up; read -r x; exit 5")) {
            zklock.awaitOut("up");
            zklock.keeper().destroyForcibly();
            zklock.awaitErr("has ended (signal 9); the command continues");
            zklock.in().close();
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(5);
        }
    }

    /** Nobody could tell it of a loss. */
    @Test
    void keeperThatStandsStill_isALoss() throws IOException, InterruptedException {
        try (EmbeddedZooKeeper server = quickServer();
                RunningZkLock zklock = run(server, "run", "--session-timeout", "4", "/keeper", "sh", "-c", OBEDIENT)) {
            long pid = zklock.number("pid");
            ProcessHandle keeper = zklock.keeper();
            RunningZkLock.signal("STOP", keeper.pid());
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(76);
            assertThat(runs(pid)).isFalse();
            assertThat(zklock.out()).contains("told");
            assertThat(zklock.err()).containsPattern("has not answered for [0-9.]+ s; the command is being ended");
            RunningZkLock.awaitGone(keeper.pid());
        }
    }

    @Test
    void launcherThatStandsStill_isNoReasonToEndTheCommand() throws IOException, InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.builder()
                        .tickTime(Duration.ofMillis(600))
                        .start();
                RunningZkLock zklock = run(
                        server,
                        "run",
                        "--session-timeout",
                        "12",
                        "/keeper",
                        "sh",
                        "-c",
                        "echo pid $$; read -r x; exit 5")) {
            zklock.number("pid");
            ProcessHandle keeper = zklock.keeper();
            for (long each : List.of(keeper.pid(), zklock.pid())) {
                RunningZkLock.signal("STOP", each);
            }
            Thread.sleep(5_000); // longer than the launcher waits for an answer, shorter than the session
            RunningZkLock.signal("CONT", zklock.pid());
            RunningZkLock.signal("CONT", keeper.pid());
            zklock.in().write('\n');
            zklock.in().close();
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(5);
        }
    }

    @Test
    void launcherThatStandsStillWhileItEndsTheCommand_isReplaced() throws IOException, InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                RunningZkLock zklock = run(server, "run", "--grace", "2", "/keeper", "sh", "-c", TOLD_AND_DEAF)) {
            long pid = zklock.number("pid");
            server.deleteNode("/keeper/" + server.children("/keeper").get(0));
            zklock.awaitOut("told");
            zklock.signal("STOP");
            await().atMost(RunningZkLock.LIMIT)
                    .until(() -> RunSignalIT.state(pid).startsWith("Z"));
            zklock.signal("CONT");
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(76);
        }
    }

    @Test
    void killedLauncher_endsTheCommand_beforeTheLockIsFree() throws IOException, InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                RunningZkLock zklock = run(server, "run", "--grace", "1", "/keeper", "sh", "-c", DEAF)) {
            long pid = zklock.number("pid");
            zklock.signal("KILL");
            await().atMost(RunningZkLock.LIMIT)
                    .pollInterval(Duration.ofMillis(5))
                    .until(() -> server.children("/keeper").isEmpty());
            assertThat(runs(pid)).as("the command, when the lock is free").isFalse();
        }
    }

    @Test
    void killedLauncherWhileWaiting_leavesNoNode() throws IOException, InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                TestClients clients = TestClients.of(server);
                Lease lease = new InterProcessMutex(clients.open(), "/keeper").acquire();
                RunningZkLock zklock = run(server, "run", "/keeper", "echo", "ran")) {
            RunningZkLock.awaitNodes(server, "/keeper", 2);
            zklock.signal("KILL");
            RunningZkLock.awaitNodes(server, "/keeper", 1);
            lease.close();
            assertThat(zklock.out()).isEmpty();
        }
    }

    @Test
    void grantThatTheLauncherDoesNotTake_isGivenBack() throws IOException, InterruptedException {
        try (EmbeddedZooKeeper server = quickServer();
                TestClients clients = TestClients.of(server)) {
            InterProcessMutex mutex = new InterProcessMutex(clients.open(), "/keeper");
            Lease lease = mutex.acquire();
            try (RunningZkLock zklock = run(server, "run", "--session-timeout", "4", "/keeper", "echo", "ran")) {
                RunningZkLock.awaitNodes(server, "/keeper", 2);
                zklock.signal("STOP");
                lease.close();
                mutex.tryAcquire(RunningZkLock.LIMIT).orElseThrow().close();
                zklock.signal("CONT");
                assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(70);
                assertThat(zklock.err()).contains("/keeper was granted, and is given back after 4.000 s");
                assertThat(zklock.out()).isEmpty();
            }
        }
    }

    /** The keeper's log tells what it knows: its words have to wait for the launcher. */
    @Test
    void grantThatIsLostBeforeTheLauncherTakesIt_startsNothing() throws IOException, InterruptedException {
        Path log = Files.createFile(folder.resolve("log-of-the-keeper"));
        String java = "-Dorg.slf4j.simpleLogger.log.dev.zkrecipes.locks=debug -Dorg.slf4j.simpleLogger.logFile=" + log;
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                TestClients clients = TestClients.of(server)) {
            Lease lease = new InterProcessMutex(clients.open(), "/keeper").acquire();
            List<Long> holder = server.sessions();
            Map<String, String> environment =
                    Map.of("ZKLOCK_CONNECT", server.connectString(), "ZKLOCK_JAVA_OPTIONS", java);
            try (RunningZkLock zklock = RunningZkLock.start(folder, environment, "run", "/keeper", "echo", "ran")) {
                RunningZkLock.awaitNodes(server, "/keeper", 2);
                zklock.signal("STOP");
                lease.close();
                await().atMost(RunningZkLock.LIMIT)
                        .until(() -> Files.readString(log).contains("Granted the lock /keeper"));
                List<Long> waiter = new ArrayList<>(server.sessions());
                waiter.removeAll(holder);
                assertThat(server.expireSession(waiter.get(0))).isTrue();
                await().atMost(RunningZkLock.LIMIT)
                        .until(() -> Files.readString(log).contains("Lost the lock /keeper"));
                zklock.signal("CONT");
                assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(70);
                assertThat(zklock.err()).contains("/keeper was granted, and lost before anything was started");
                assertThat(zklock.out()).isEmpty();
            }
        }
    }

    @Test
    @Tag("H116")
    void keeper_hasNothingOfTheCommands_andTheCommandNothingOfTheKeepers() throws IOException, InterruptedException {
        Path own = Files.createFile(folder.resolve("descriptor-of-the-script"));
        String command = "echo pid $$; read -r x";
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                RunningZkLock zklock = RunningZkLock.startBy(
                        folder, server, "exec 9>" + own + "; exec \"$@\"", "run", "/keeper", "sh", "-c", command)) {
            long pid = zklock.number("pid");
            List<String> command9 = descriptors(pid);
            List<String> keeper = descriptors(zklock.keeper().pid());
            List<String> shared = command9.stream().filter(keeper::contains).toList();
            assertThat(command9).anyMatch(each -> each.endsWith("descriptor-of-the-script"));
            assertThat(shared).filteredOn(each -> !each.equals("/dev/null")).isEmpty();
            zklock.in().close();
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(1);
        }
    }

    private static List<String> descriptors(long pid) throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc", String.valueOf(pid), "fd"))) {
            return all.map(each -> {
                        try {
                            return Files.readSymbolicLink(each).toString();
                        } catch (IOException e) {
                            return "closed";
                        }
                    })
                    .toList();
        }
    }
}
