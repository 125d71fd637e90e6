// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code zklock run} ends with, each case by the real jar. The cases of loss are in {@link RunLossIT}. */
@WithZooKeeper
class RunExitCodeIT {
    @TempDir
    private Path folder;

    private final EmbeddedZooKeeper server;

    RunExitCodeIT(EmbeddedZooKeeper server) {
        this.server = server;
    }

    private RunningZkLock run(String... arguments) throws IOException, InterruptedException {
        return RunningZkLock.start(folder, server, arguments);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "0   | run /exit/own true                    | ",
                "7   | run /exit/own -- sh -c 'exit 7'       | ",
                "143 | run /exit/own sh -c 'kill -TERM $$'   | ",
                "137 | run /exit/own sh -c 'kill -KILL $$'   | ",
                "127 | run /exit/own no-such-command         | no-such-command: command not found",
                "126 | run /exit/own /etc/passwd             | /etc/passwd: cannot be executed",
                "64  | run --wait ten /exit/own true         | 'ten' is not a number of seconds",
                "64  | run                                   | the path of the lock is missing",
            })
    void exitCode_isThatOfTheCommand_orSaysWhyItNeverRan(int code, String line, String told)
            throws IOException, InterruptedException {
        try (RunningZkLock zklock = run(Words.split(line))) {
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(code);
            if (told == null) {
                assertThat(zklock.err()).isEmpty();
            } else {
                assertThat(zklock.err()).startsWith("zklock: ").contains(told);
            }
        }
        assertThat(server.nodeExists("/exit/own") ? server.children("/exit/own") : "none")
                .asString()
                .doesNotContain("__");
    }

    @Test
    void busyLock_isAConflict_toldWithTheHolder_andTheCommandDoesNotRun() throws IOException, InterruptedException {
        try (ZooKeeperClient client = ZooKeeperClient.builder()
                        .connectString(server.connectString())
                        .ownerLabel("deploy@web1")
                        .build();
                Lease lease = new InterProcessMutex(client, "/exit/busy").acquire();
                RunningZkLock atOnce = run("run", "-n", "/exit/busy", "echo", "ran");
                RunningZkLock quiet = run("run", "-n", "-E", "0", "/exit/busy", "echo", "ran")) {
            assertThat(atOnce.awaitExit()).as(atOnce.err()).isEqualTo(1);
            assertThat(quiet.awaitExit()).as(quiet.err()).isZero();
            assertThat(atOnce.out() + quiet.out() + quiet.err()).isEmpty();
            assertThat(atOnce.err())
                    .matches("zklock: not acquired: /exit/busy is held by deploy@web1 \\([0-9.]+ s\\)\n");
            RunningZkLock.assertRunFailsInTime(
                    folder,
                    Map.of("ZKLOCK_CONNECT", server.connectString()),
                    9,
                    List.of("zklock: not acquired: /exit/busy is held by deploy@web1 (", " s)"),
                    "-E",
                    "9",
                    "/exit/busy",
                    "echo",
                    "ran");
            Soon.await().until(lease::isValid);
        }
    }

    @Test
    void sharedLock_isSharedAndASemaphoreHasItsLimit() throws IOException, InterruptedException {
        try (TestClients clients = TestClients.of(server);
                Lease read = new InterProcessReadWriteLock(clients.open(), "/exit/shared")
                        .readLock()
                        .acquire();
                Lease two = new InterProcessSemaphore(clients.open(), "/exit/semaphore", 3).acquire(2);
                RunningZkLock shared = run("run", "-s", "-n", "/exit/shared", "true");
                RunningZkLock fits = run("run", "-n", "--limit=3", "/exit/semaphore", "true");
                RunningZkLock many = run("run", "-n", "--limit=3", "--permits=2", "/exit/semaphore", "true");
                RunningZkLock all =
                        run("run", "-x", "-n", "-E", "5", "--all", "/exit/free,/exit/shared", "--", "true")) {
            assertThat(shared.awaitExit()).as(shared.err()).isZero();
            assertThat(fits.awaitExit()).as(fits.err()).isZero();
            assertThat(many.awaitExit()).as(many.err()).isEqualTo(1);
            assertThat(all.awaitExit()).as(all.err()).isEqualTo(5);
            Soon.await().until(() -> read.isValid() && two.isValid());
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--limit=3 | -n        | a semaphore, which zklock takes with --limit",
                "--limit=3 | -s        | a semaphore, which zklock takes with --limit",
                "-x        | -n        | a read-write lock, which zklock takes with -x or -s",
                "-s        | --limit=3 | a read-write lock, which zklock takes with -x or -s",
                "-v        | -s        | a mutex, which zklock takes without -x, -s and --limit",
                "-v        | --limit=3 | a mutex, which zklock takes without -x, -s and --limit",
            })
    void pathOfAnotherRecipe_isUnusable_andToldWithItsOption(String theirs, String ours, String told)
            throws IOException, InterruptedException {
        try (RunningZkLock holder =
                run("run", theirs, "/exit/foreign" + theirs + ours, "sh", "-c", "echo up; read end")) {
            holder.awaitOut("up");
            try (RunningZkLock zklock = run("run", ours, "/exit/foreign" + theirs + ours, "echo", "ran")) {
                assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(65);
                assertThat(zklock.err().lines())
                        .singleElement()
                        .asString()
                        .contains("/exit/foreign" + theirs + ours + " is in use as " + told);
                assertThat(zklock.out()).isEmpty();
            }
            holder.in().close();
            assertThat(holder.awaitExit()).as(holder.err()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "held"})
    void semaphoreOfAnotherLimit_isToldWithItsLimit(String use) throws IOException, InterruptedException {
        String path = "/exit/limit" + use;
        try (TestClients clients = TestClients.of(server)) {
            Lease permit = new InterProcessSemaphore(clients.open(), path, 3).acquire();
            if (use.isEmpty()) {
                permit.close();
            }
            try (RunningZkLock zklock = run("run", "--limit=4", path, "echo", "ran")) {
                assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(65);
                assertThat(zklock.err().lines())
                        .singleElement()
                        .asString()
                        .startsWith("zklock: the semaphore " + path + " was made with 3 permits, and");
                assertThat(zklock.out()).isEmpty();
            }
        }
    }

    @Test
    void missingRights_endWithExitCode77() throws IOException, InterruptedException {
        Path people = Files.writeString(folder.resolve("people"), "digest:owner:secret\n");
        try (RunningZkLock owner =
                run("run", "--auth-file", people.toString(), "--acl", "creator", "/mine/lock", "true")) {
            assertThat(owner.awaitExit()).as(owner.err()).isZero();
        }
        try (RunningZkLock stranger = run("run", "/mine/lock", "echo", "ran")) {
            assertThat(stranger.awaitExit()).as(stranger.err()).isEqualTo(77);
            assertThat(stranger.err().lines()).singleElement().asString().contains("/mine/lock");
            assertThat(stranger.out()).isEmpty();
        }
    }

    @Test
    void unreachableServer_isReportedInTime() throws IOException, InterruptedException {
        try (EmbeddedZooKeeper stopped = EmbeddedZooKeeper.start()) {
            stopped.stop();
            try (RunningZkLock zklock =
                    run("run", "--connect", stopped.connectString(), "-w", "0.5", "/exit/none", "echo", "ran")) {
                assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(69);
                assertThat(zklock.err().lines())
                        .singleElement()
                        .asString()
                        .startsWith("zklock: no server of " + stopped.connectString() + " answered within 0.5 s");
                assertThat(zklock.out()).isEmpty();
            }
        }
    }

    /** As after ssh from a machine that has it. */
    @ParameterizedTest
    @ValueSource(strings = {"C", "xx_XX.UTF-8"})
    @Tag("H116")
    void path_isReadAsUtf8_withoutALocaleOfThatName(String locale) throws IOException, InterruptedException {
        Map<String, String> environment =
                Map.of("ZKLOCK_CONNECT", server.connectString(), "LC_ALL", locale, "PERL_BADLANG", "0");
        try (RunningZkLock zklock = RunningZkLock.startBy(
                folder, environment, "\"$1\" run $'/l\\xc3\\xb6ck' sh -c 'echo \"$ZKLOCK_PATH\"'")) {
            assertThat(zklock.awaitExit()).as(zklock.err()).isZero();
            assertThat(zklock.out()).isEqualTo("/l\u00f6ck\n");
        }
    }

    @Test
    void environment_namesTheInnermostLock() throws IOException, InterruptedException {
        String inner = String.join(" ", RunningZkLock.commandLine("run", "-s", "/exit/inner"));
        String show = "echo $ZKLOCK_PATH $ZKLOCK_FENCE; echo $ZKLOCK_SESSION $ZKLOCK_NODE";
        try (RunningZkLock zklock =
                run("run", "/exit/outer", "sh", "-c", show + "; " + inner + " sh -c '" + show + "'")) {
            assertThat(zklock.awaitExit()).as(zklock.err()).isZero();
            String[] lines = zklock.out().lines().toArray(String[]::new);
            assertThat(lines).hasSize(4);
            assertThat(lines[0]).matches("/exit/outer [1-9][0-9]*");
            assertThat(lines[1]).matches("0x[0-9a-f]+ /exit/outer/[0-9a-f]{32}-lock-[0-9]{10}");
            assertThat(lines[2]).matches("/exit/inner [1-9][0-9]*");
            assertThat(lines[3]).matches("0x[0-9a-f]+ /exit/inner/[0-9a-f]{32}-__READ__[0-9]{10}");
        }
    }

    @Test
    void verbose_tellsWaitAndHoldOnStandardError() throws IOException, InterruptedException {
        try (RunningZkLock zklock = run("run", "-v", "--label", "nightly", "/exit/verbose", "echo", "ran", "-v")) {
            assertThat(zklock.awaitExit()).as(zklock.err()).isZero();
            assertThat(zklock.out()).isEqualTo("ran -v\n");
            assertThat(zklock.err())
                    .containsPattern("zklock: acquired /exit/verbose after [0-9.]+ s, fencing token [0-9]+")
                    .containsPattern("zklock: held /exit/verbose for [0-9.]+ s; the command ended with 0");
        }
    }

    /** As some daemons start their jobs. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "<&- | wc -c           | 0",
                ">&- | echo lost       | ''",
                "2>&- | echo x >&2 && echo kept | kept",
            })
    void closedStream_isEmptyForTheCommand(String closing, String command, String printed)
            throws IOException, InterruptedException {
        Map<String, String> environment = Map.of("ZKLOCK_CONNECT", server.connectString(), "ZKLOCK_CDS", "off");
        try (RunningZkLock zklock = RunningZkLock.startBy(
                folder,
                environment,
                "exec \"$@\" " + closing,
                "run",
                "/exit/closed",
                "sh",
                "-c",
                command + "; exit 3")) {
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(3);
            assertThat(zklock.out().strip()).isEqualTo(printed);
            assertThat(zklock.err()).isEmpty();
        }
    }

    @Test
    void pipeOnStandardInput_comesThroughWhole() throws IOException, InterruptedException {
        byte[] block = "0123456789abcde\n".repeat(1 << 16).getBytes(StandardCharsets.US_ASCII); // 1 MiB
        try (RunningZkLock zklock = run("run", "/exit/pipe", "cksum")) {
            for (int i = 0; i < 100; i++) {
                zklock.in().write(block);
            }
            zklock.in().close();
            assertThat(zklock.awaitExit()).as(zklock.err()).isZero();
            assertThat(zklock.out().strip()).endsWith(" " + (100L << 20));
        }
    }

    @Test
    void configurationFromAPipe_isReadOnce_alsoIfItIsWrong() throws IOException, InterruptedException {
        try (RunningZkLock zklock = run("run", "--config", "/dev/stdin", "/exit/config", "echo", "ran")) {
            zklock.in().write("zookeeper.client.secure=true\nno-such-setting=1\n".getBytes(StandardCharsets.US_ASCII));
            zklock.in().close();
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(64);
            assertThat(zklock.err().lines()).hasSize(2).first().asString().contains("no-such-setting");
            assertThat(zklock.out()).isEmpty();
        }
    }
}
