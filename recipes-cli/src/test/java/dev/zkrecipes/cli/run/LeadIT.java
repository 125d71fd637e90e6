// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.Ran;
import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code zklock lead}: a command in each term. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@WithZooKeeper
@Execution(ExecutionMode.CONCURRENT)
class LeadIT {
    /** Leads until it is told to end, or a line comes. */
    private static final String LEADS =
            "trap 'echo told; exit 3' TERM; echo term $ZKLOCK_FENCE; echo pid $$; until read -t 0.1 x; do :; done; exit 5";

    /** The first term is lost while the launcher asks for it. */
    private static final String KEEPER_THAT_SAYS_STOP = """
            #!/bin/bash
            echo "+command 3 1 1"
            while read -r line; do
              case $line in
                go) echo "+granted 0.5" ;;
                target*) echo +watched ;;
                ask) if [ "$again" ]; then echo +alive; else echo +stop; fi ;;
                *again) again=1; echo +again; sleep 3; echo "+granted 0.5" ;;
                over*) echo "+end 0"; exit ;;
              esac
            done
            """;

    private static final String NO_PAUSE = "--pause=0";
    private static final String NO_NEXT_TERM = "--pause=3600";

    @TempDir
    private Path folder;

    private final EmbeddedZooKeeper server;
    private final String path = "/lead-" + UUID.randomUUID();

    LeadIT(EmbeddedZooKeeper server) {
        this.server = server;
    }

    private RunningZkLock lead(String option, String command) throws IOException, InterruptedException {
        return RunningZkLock.start(folder, server, "lead", option, path, "bash", "-c", command);
    }

    private static List<Long> terms(RunningZkLock zklock) throws IOException {
        return zklock.out()
                .lines()
                .filter(line -> line.matches("term [0-9]+"))
                .map(line -> Long.valueOf(line.substring("term ".length())))
                .toList();
    }

    /** Of which each has a greater number than the one before. */
    private static void awaitTerms(RunningZkLock zklock, int count) {
        await().atMost(RunningZkLock.LIMIT)
                .untilAsserted(() -> assertThat(terms(zklock))
                        .as(zklock.err())
                        .hasSize(count)
                        .isSorted()
                        .doesNotHaveDuplicates());
    }

    private void awaitNodes(int count) {
        RunningZkLock.awaitNodes(server, path, count);
    }

    /** As the server orders them. */
    private String leader() {
        return path + "/"
                + server.children(path).stream()
                        .min((a, b) -> a.substring(a.length() - 10).compareTo(b.substring(b.length() - 10)))
                        .orElseThrow();
    }

    @Test
    void commandRunsInEachTerm_inOneQueueWithCuratorsLatch() throws Exception {
        try (CuratorFramework curator =
                CuratorFrameworkFactory.newClient(server.connectString(), new RetryOneTime(100))) {
            LeaderLatch first = new LeaderLatch(curator, path, "first");
            LeaderLatch second = new LeaderLatch(curator, path, "second");
            curator.start();
            first.start();
            await().atMost(RunningZkLock.LIMIT).until(first::hasLeadership);
            try (RunningZkLock zklock = lead(NO_PAUSE, LEADS)) {
                awaitNodes(2);
                assertThat(terms(zklock)).isEmpty();
                first.close();
                awaitTerms(zklock, 1);
                second.start();
                awaitNodes(2);
                assertThat(Ran.zklock("ls", "--connect", server.connectString(), path)
                                .lines())
                        .satisfies(lines ->
                                assertThat(lines.get(0)).isEqualTo(path + ": leader election, 1 leads, 1 stands"))
                        .satisfies(lines -> assertThat(lines.get(2)).contains(" leads   leadership "))
                        .satisfies(lines -> assertThat(lines.get(3)).contains(" stands  leadership ", " second "));
                zklock.in().write('\n'); // the command ends, and the leadership is given back
                zklock.in().flush();
                await().atMost(RunningZkLock.LIMIT).until(second::hasLeadership);
                awaitNodes(2);
                assertThat(terms(zklock)).hasSize(1);
                second.close();
                awaitTerms(zklock, 2);
                zklock.signal("TERM");
                assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(3);
                awaitNodes(0);
            }
        }
    }

    @Test
    void lostLeadership_endsTheCommand_andAnotherTermFollows() throws IOException, InterruptedException {
        try (RunningZkLock zklock = lead(NO_PAUSE, LEADS)) {
            awaitTerms(zklock, 1);
            server.deleteNode(leader());
            awaitTerms(zklock, 2);
            assertThat(zklock.out()).contains("told");
            assertThat(zklock.err())
                    .contains("is lost (its node was deleted by somebody else); the command is being ended");
            server.expireSession(server.owner(leader()).orElseThrow());
            awaitTerms(zklock, 3);
            zklock.signal("TERM");
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(3);
        }
    }

    @Test
    void once_endsWithTheCommand_orAt76() throws IOException, InterruptedException {
        try (RunningZkLock zklock = lead("--once", "exit 7")) {
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(7);
        }
        try (RunningZkLock zklock = lead("--once", LEADS)) {
            awaitTerms(zklock, 1);
            server.deleteNode(leader());
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(76);
        }
    }

    @Test
    void killedLeader_isFollowedByTheNext_whenItsCommandHasEnded() throws IOException, InterruptedException {
        try (RunningZkLock one = lead(NO_PAUSE, LEADS)) {
            awaitTerms(one, 1);
            try (RunningZkLock other = lead(NO_PAUSE, "ps -o pid= -o stat= -p " + one.number("pid") + "; " + LEADS)) {
                awaitNodes(2);
                one.signal("KILL");
                awaitTerms(other, 1);
                assertThat(terms(other).get(0)).isGreaterThan(terms(one).get(0));
                assertThat(one.out()).contains("told");
                assertThat(other.out().lines().findFirst().orElseThrow()).matches("term .*|.* Z.*");
            }
        }
    }

    @Test
    void killedKeeper_endsTheCommandAndZkLock() throws IOException, InterruptedException {
        try (RunningZkLock zklock = lead(NO_PAUSE, LEADS)) {
            awaitTerms(zklock, 1);
            zklock.keeper().destroyForcibly();
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(76);
            assertThat(zklock.out()).contains("told");
        }
    }

    @ParameterizedTest
    @CsvSource({"TERM, 143", "HUP, 129"})
    void signalBetweenTwoTerms_endsIt(String name, int code) throws IOException, InterruptedException {
        try (RunningZkLock zklock = lead(NO_NEXT_TERM, "echo term $ZKLOCK_FENCE; exit 9")) {
            awaitTerms(zklock, 1);
            awaitNodes(0);
            zklock.signal(name);
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(code);
            assertThat(terms(zklock)).hasSize(1);
        }
    }

    @ParameterizedTest
    @CsvSource({"TERM, 143", "HUP, 129"})
    void signalWhileTheLeadershipIsGivenBack_endsIt(String name, int code) throws IOException, InterruptedException {
        try (RunningZkLock zklock = lead(NO_NEXT_TERM, "echo term $ZKLOCK_FENCE; read x; exit 9")) {
            awaitTerms(zklock, 1);
            ProcessHandle keeper = zklock.keeper();
            RunningZkLock.signal("STOP", keeper.pid());
            zklock.in().write('\n');
            zklock.in().flush();
            ProcessHandle launcher = ProcessHandle.of(zklock.pid()).orElseThrow();
            await().atMost(RunningZkLock.LIMIT)
                    .untilAsserted(() -> assertThat(launcher.children()).containsExactly(keeper));
            zklock.signal(name);
            RunningZkLock.signal("CONT", keeper.pid());
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(code);
        }
    }

    /** As a daemon reads its settings again; and as a command that does not dies with the terminal. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void hangUp_endsZkLock_ifItEndsTheCommand(boolean heeded) throws IOException, InterruptedException {
        String trap = heeded ? "trap 'echo again' HUP; " : "";
        try (RunningZkLock zklock = lead(NO_PAUSE, trap + "echo term $ZKLOCK_FENCE; while :; do sleep 0.1; done")) {
            awaitTerms(zklock, 1);
            zklock.signal("HUP");
            if (heeded) {
                zklock.awaitOut("again");
                server.deleteNode(leader());
                awaitTerms(zklock, 2);
                zklock.signal("TERM");
            }
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(heeded ? 143 : 129);
        }
    }

    @Test
    void questionThatStopAnswered_isNoneOfTheNextTerm() throws IOException, InterruptedException {
        Path java = Files.createDirectories(folder.resolve("jdk/bin")).resolve("java");
        Files.writeString(java, KEEPER_THAT_SAYS_STOP);
        Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwxr-xr-x"));
        Map<String, String> environment =
                Map.of("JAVA_HOME", folder.resolve("jdk").toString());
        String command = "echo term; sleep 3; echo worked on";
        try (RunningZkLock zklock = RunningZkLock.start(folder, environment, "lead", path, "sh", "-c", command)) {
            zklock.awaitOut("worked on");
            zklock.signal("TERM");
            zklock.awaitExit();
            assertThat(zklock.err()).doesNotContain("has not answered");
        }
    }

    /** Such as one of another user: the launcher gives up on it after the KILL, when the keeper has begun to end it, too. */
    @Test
    void whatOutlivesItsTerm_endsNoLaterOne() throws IOException, InterruptedException {
        Path gone = folder.resolve("gone");
        Path ends = folder.resolve("ends");
        Path launcher = Files.writeString(
                folder.resolve("launcher"),
                "#!/bin/sh\n>" + ends + "; until [ -e " + gone + " ]; do sleep 0.1; done\n");
        Files.setPosixFilePermissions(launcher, PosixFilePermissions.fromString("rwxr-xr-x"));
        Process keeper = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin/java").toString(),
                        "-Dzklock.launcher=" + launcher,
                        "-jar",
                        "target/zklock.jar",
                        "lead",
                        "--connect=" + server.connectString(),
                        "--grace=0.1",
                        NO_PAUSE,
                        path,
                        "true")
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try (BufferedReader said = keeper.inputReader();
                PrintWriter to = new PrintWriter(keeper.outputWriter(), true)) {
            awaitLine(said, "+command ");
            to.println("go");
            awaitLine(said, "+granted ");
            to.println("target group 1 0 0");
            awaitLine(said, "+watched");
            server.deleteNode(leader());
            awaitLine(said, "+stop");
            to.println("ending");
            await().atMost(RunningZkLock.LIMIT).until(() -> Files.exists(ends));
            to.println("over 137 again");
            awaitLine(said, "+again");
            awaitLine(said, "+granted ");
            to.println("target group 1 0 0");
            awaitLine(said, "+watched");
            String second = leader();
            Files.createFile(gone);
            await().during(Duration.ofSeconds(1)).atMost(RunningZkLock.LIMIT).until(() -> server.nodeExists(second));
            to.println("over 5");
            awaitLine(said, "+end 5");
        } finally {
            keeper.destroyForcibly();
        }
    }

    private static void awaitLine(BufferedReader said, String begin) throws IOException {
        String line = said.readLine();
        while (line.startsWith("+env ")) {
            line = said.readLine();
        }
        assertThat(line).startsWith(begin);
    }

    @Test
    void pathOfALock_isRefusedByName() throws IOException, InterruptedException {
        server.createNode(path, new byte[0]);
        try (RunningZkLock holder = RunningZkLock.start(folder, server, "run", path, "sh", "-c", "echo up; read x")) {
            holder.awaitOut("up");
            try (RunningZkLock zklock = lead("--once", "echo ran")) {
                assertThat(zklock.awaitExit()).isEqualTo(65);
                assertThat(zklock.err())
                        .contains(path + " is in use as a mutex")
                        .contains("cannot be a leader election");
            }
            holder.in().write('\n');
            holder.in().flush();
            assertThat(holder.awaitExit()).isZero();
        }
        try (RunningZkLock leader = lead("--once", LEADS)) {
            awaitTerms(leader, 1);
            try (RunningZkLock run = RunningZkLock.start(folder, server, "run", path, "echo", "ran")) {
                assertThat(run.awaitExit()).isEqualTo(65);
                assertThat(run.err())
                        .contains(path + " is in use as a leader election, which zklock takes by zklock lead");
            }
        }
    }
}
