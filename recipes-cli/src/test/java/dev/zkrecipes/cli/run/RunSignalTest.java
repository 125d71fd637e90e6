// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.cli.Tool;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Signals to {@code zklock run}, {@code hold} and {@code lead}, beside a {@link ScriptedKeeper}. */
class RunSignalTest extends ScriptedKeeperStage {
    /** Upon the end of a term of {@code lead}, waits until a file of the name {@code given-back} is there. */
    private static final String GIVES_BACK_WHEN_TOLD = "until [ -e given-back ]; do sleep 0.1; done;"
            + " case $rest in *again) echo +again ;; *) echo \"+end $rest\"; exit ;; esac";

    private static void awaitStopped(long pid, RunningZkLock zklock) {
        await().atMost(RunningZkLock.LIMIT)
                .untilAsserted(() -> assertThat(RunningZkLock.state(pid))
                        .as("process %s; zklock is %s; err: %s", pid, RunningZkLock.state(zklock.pid()), zklock.err())
                        .startsWith("T"));
    }

    private static void awaitRunning(long pid) {
        await().atMost(RunningZkLock.LIMIT)
                .until(() -> !RunningZkLock.state(pid).startsWith("T"));
    }

    @Test
    void signals_reachTheCommandAndTheRestOfItsGroup() throws IOException, InterruptedException {
        String traps =
                "for s in HUP INT USR1 USR2 WINCH; do trap \"echo $0 got $s\" $s; done; trap 'echo $0 got TERM; exit 4' TERM;"
                        + " echo $0 $$; while :; do sleep 0.1; done";
        String command = "sh -c '" + traps.replace("'", "'\\''") + "' second & sh -c '" + traps.replace("'", "'\\''")
                + "' first; code=$?; wait; exit $code";
        String waiting = "trap : HUP INT USR1 USR2 TERM; " + command;
        try (RunningZkLock zklock = keeper.zklock("run", "/a", "sh", "-c", waiting)) {
            zklock.number("first");
            zklock.number("second");
            for (String name : new String[] {"USR1", "USR2", "WINCH", "HUP", "TERM"}) {
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
        String command = "trap 'echo got; exit 6' " + name + "; echo up; while :; do sleep 0.1; done";
        try (RunningZkLock zklock = keeper.zklock("run", "/a", "sh", "-c", command)) {
            zklock.awaitOut("up");
            zklock.signal(name);
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(6);
        }
    }

    /** The command waits without starting processes: a shell that is stopped within a vfork stands in state D, not T. */
    @Test
    void stopAndContinue_stopAndContinueBoth() throws IOException, InterruptedException {
        try (RunningZkLock zklock = keeper.zklock("run", "/a", "sh", "-c", "echo pid $$; read go; exit 5")) {
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
    @CsvSource({
        "run, INT, 130",
        "run, TERM, 143",
        "run, HUP, 129",
        "run, QUIT, 131",
        "lead, TERM, 143",
        "hold, INT, 130"
    })
    void signalWhileWaiting_leavesTheQueue(String command, String name, int code)
            throws IOException, InterruptedException {
        keeper.upon("go", ":");
        try (RunningZkLock zklock =
                keeper.zklock(Words.split(command + (command.equals("hold") ? " /a" : " /a echo ran")))) {
            keeper.awaitHeard("go");
            zklock.signal(name);
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(code);
            assertThat(zklock.out()).isEmpty();
            assertThat(keeper.heard()).containsExactly("go"); // and then the end of its input
        }
    }

    @Test
    void parentDeathSignal_canBeAskedForByTheCommand() throws IOException, InterruptedException {
        Tool.SETPRIV.require();
        String[] line = Words.split("run --on-lost=ignore /a setpriv --pdeathsig KILL -- sh -c");
        String[] all = Arrays.copyOf(line, line.length + 1);
        all[line.length] = LauncherTest.DEAF;
        try (RunningZkLock zklock = keeper.zklock(all)) {
            long pid = zklock.number("pid");
            zklock.signal("KILL");
            assertThat(zklock.awaitExit()).isEqualTo(137);
            RunningZkLock.awaitGone(pid);
        }
    }

    @ParameterizedTest
    @CsvSource({"INT, 130", "TERM, 143"})
    void signal_endsAHoldWithoutAScript(String name, int code) throws IOException, InterruptedException {
        try (RunningZkLock zklock = keeper.zklock("hold", "/a")) {
            zklock.awaitOut("7 0x1 /a/n\n");
            zklock.signal(name);
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(code);
            assertThat(keeper.heard()).endsWith("over " + code);
        }
    }

    // ---- lead

    /** The command takes its time, and the launcher says that it is over when it has ended. */
    @ParameterizedTest
    @ValueSource(strings = {"INT", "QUIT", "TERM"})
    @Tag("H153")
    void signalledLeader_isOverWhenItsCommandHasEnded_andStandsNoMore(String name)
            throws IOException, InterruptedException {
        Path enough = folder.resolve("enough");
        String stops = "echo told; until [ -e \"" + enough + "\" ]; do sleep 0.1; done; exit 3";
        String command = "trap '" + stops + "' " + name + "; echo up; while :; do sleep 0.1; done";
        try (RunningZkLock zklock = keeper.zklock("lead", "/a", "sh", "-c", command)) {
            zklock.awaitOut("up");
            zklock.signal(name);
            zklock.awaitOut("told");
            assertThat(keeper.heard()).noneMatch(line -> line.startsWith("over"));
            Files.createFile(enough);
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(3);
            assertThat(keeper.heard()).endsWith("over 3");
        }
    }

    @ParameterizedTest
    @CsvSource({"TERM, 143, true", "HUP, 129, true", "TERM, 143, false", "HUP, 129, false"})
    void signalBetweenTwoTerms_endsIt(String name, int code, boolean givenBack)
            throws IOException, InterruptedException {
        keeper.upon("over", GIVES_BACK_WHEN_TOLD);
        if (givenBack) {
            Files.createFile(keeper.file("given-back"));
        }
        try (RunningZkLock zklock = keeper.zklock("lead", "/a", "sh", "-c", "echo term; exit 9")) {
            keeper.awaitHeard("over 9 again");
            zklock.signal(name);
            if (!givenBack) {
                Files.createFile(keeper.file("given-back"));
            }
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(code);
            assertThat(zklock.out()).isEqualTo("term\n");
        }
    }

    /** As a daemon reads its settings again; and as a command that does not dies with the terminal. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void hangUp_endsZkLock_ifItEndsTheCommand(boolean heeded) throws IOException, InterruptedException {
        Files.createFile(keeper.file("given-back"));
        keeper.upon("over", GIVES_BACK_WHEN_TOLD.replace("echo +again", "rm -f lost; echo +again; grant"));
        String trap = heeded ? "trap 'echo again' HUP; " : "";
        String command = trap + "echo term $$; while :; do sleep 0.1; done";
        try (RunningZkLock zklock = keeper.zklock("lead", "/a", "sh", "-c", command)) {
            long first = zklock.number("term");
            zklock.signal("HUP");
            if (heeded) {
                zklock.awaitOut("again");
                keeper.lose();
                RunningZkLock.awaitGone(first);
                await().atMost(RunningZkLock.LIMIT)
                        .until(() -> zklock.out()
                                        .lines()
                                        .filter(line -> line.startsWith("term "))
                                        .count()
                                == 2);
                zklock.signal("TERM");
            }
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(heeded ? 143 : 129);
        }
    }
}
