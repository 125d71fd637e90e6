// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.cli.Tool;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Signals to {@code zklock run}, and its death. */
@WithZooKeeper
class RunSignalIT {
    @TempDir
    private Path folder;

    private final EmbeddedZooKeeper server;

    RunSignalIT(EmbeddedZooKeeper server) {
        this.server = server;
    }

    private RunningZkLock run(String... arguments) throws IOException, InterruptedException {
        return RunningZkLock.start(folder, server, arguments);
    }

    /** As ps shows it: T is stopped, S sleeps. */
    static String state(long pid) throws IOException {
        Process ps = new ProcessBuilder("ps", "-o", "stat=", "-p", String.valueOf(pid)).start();
        return new String(ps.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
    }

    private static void awaitStopped(long pid, RunningZkLock zklock) {
        await().atMost(RunningZkLock.LIMIT)
                .untilAsserted(() -> assertThat(state(pid))
                        .as("process %s; zklock is %s; err: %s", pid, state(zklock.pid()), zklock.err())
                        .startsWith("T"));
    }

    private static void awaitRunning(long pid) {
        await().atMost(RunningZkLock.LIMIT).until(() -> !state(pid).startsWith("T"));
    }

    @Test
    void signals_reachTheCommandAndTheRestOfItsGroup() throws IOException, InterruptedException {
        String traps =
                "for s in HUP INT USR1 USR2; do trap \"echo $0 got $s\" $s; done; trap 'echo $0 got TERM; exit 4' TERM;"
                        + " echo $0 $$; while :; do sleep 0.1; done";
        String command = "sh -c '" + traps.replace("'", "'\\''") + "' second & sh -c '" + traps.replace("'", "'\\''")
                + "' first; code=$?; wait; exit $code";
        String waiting = "trap : HUP INT USR1 USR2 TERM; " + command;
        try (RunningZkLock zklock = run("run", "/signals/all", "sh", "-c", waiting)) {
            zklock.number("first");
            zklock.number("second");
            for (String name : new String[] {"USR1", "USR2", "HUP", "TERM"}) {
                zklock.signal(name);
                zklock.awaitOut("first got " + name);
                zklock.awaitOut("second got " + name);
            }
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(4);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"INT", "QUIT"})
    void signalOfTheKeyboard_reachesTheCommand(String name) throws IOException, InterruptedException {
        try (RunningZkLock zklock = run(
                "run",
                "/signals/keyboard",
                "sh",
                "-c",
                "trap 'echo got; exit 6' " + name + "; echo up; while :; do sleep 0.1; done")) {
            zklock.awaitOut("up");
            zklock.signal(name);
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(6);
        }
    }

    /** The command waits without starting processes: a shell that is stopped within a vfork stands in state D, not T. */
    @Test
    void stopAndContinue_stopAndContinueBoth() throws IOException, InterruptedException {
        String command = "echo pid $$; read go; exit 5";
        try (RunningZkLock zklock = run("run", "/signals/stop", "sh", "-c", command)) {
            long child = zklock.number("pid");
            zklock.signal("TSTP");
            awaitStopped(child, zklock);
            awaitStopped(zklock.pid(), zklock);
            zklock.signal("CONT");
            awaitRunning(zklock.pid());
            awaitRunning(child);
            zklock.in().write("go\n".getBytes(StandardCharsets.US_ASCII));
            zklock.in().flush();
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(5);
        }
    }

    @ParameterizedTest
    @CsvSource({"INT, 130", "TERM, 143", "HUP, 129", "QUIT, 131"})
    void signalWhileWaiting_leavesNoNode(String name, int code) throws IOException, InterruptedException {
        String path = "/signals/waiting-" + name;
        try (TestClients clients = TestClients.of(server);
                Lease lease = new InterProcessMutex(clients.open(), path).acquire();
                RunningZkLock zklock = run("run", path, "echo", "ran")) {
            RunningZkLock.awaitNodes(server, path, 2);
            zklock.signal(name);
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(code);
            assertThat(server.children(path)).hasSize(1);
            assertThat(zklock.out()).isEmpty();
            Soon.await().until(lease::isValid);
        }
    }

    @Test
    void killedZkLock_takesItsCommandWithIt() throws IOException, InterruptedException {
        String deaf = "sh -c 'trap \"\" TERM; echo deaf $$; while :; do sleep 0.1; done' & ";
        String command = deaf + "trap 'echo told; exit 3' TERM; echo pid $$; while :; do sleep 0.1; done";
        try (RunningZkLock zklock = run("run", "--grace", "0.5", "/signals/killed", "sh", "-c", command)) {
            long pid = zklock.number("pid");
            long deafOne = zklock.number("deaf");
            zklock.signal("KILL");
            assertThat(zklock.awaitExit()).isEqualTo(137);
            RunningZkLock.awaitGone(pid);
            RunningZkLock.awaitGone(deafOne);
            assertThat(zklock.out()).contains("told");
        }
    }

    @Test
    void killedZkLock_leavesTheCommandRunningIfLossIsIgnored() throws IOException, InterruptedException {
        Path go = folder.resolve("go");
        String command = "echo pid $$; until [ -e '" + go + "' ]; do sleep 0.1; done; echo done";
        try (RunningZkLock zklock = run("run", "--on-lost=ignore", "/signals/ignored", "sh", "-c", command)) {
            long pid = zklock.number("pid");
            zklock.signal("KILL");
            assertThat(zklock.awaitExit()).isEqualTo(137);
            assertThat(ProcessHandle.of(pid)).isPresent();
            Files.createFile(go);
            RunningZkLock.awaitGone(pid);
            assertThat(zklock.out()).contains("done");
        }
    }

    @Test
    void parentDeathSignal_canBeAskedForByTheCommand() throws IOException, InterruptedException {
        Tool.SETPRIV.require();
        String command = "trap '' TERM; echo pid $$; while :; do sleep 0.1; done";
        try (RunningZkLock zklock = run(
                "run",
                "--on-lost=ignore",
                "/signals/pdeath",
                "setpriv",
                "--pdeathsig",
                "KILL",
                "--",
                "sh",
                "-c",
                command)) {
            long pid = zklock.number("pid");
            zklock.signal("KILL");
            assertThat(zklock.awaitExit()).isEqualTo(137);
            RunningZkLock.awaitGone(pid);
        }
    }
}
