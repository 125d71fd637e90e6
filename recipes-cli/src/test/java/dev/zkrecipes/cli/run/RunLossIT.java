// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.Revocation;
import dev.zkrecipes.core.RevocationOutcome;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What becomes of the command when the lock, the server or the session goes. */
@Execution(ExecutionMode.CONCURRENT)
class RunLossIT {
    /** Says who it is, and ends when it is told to. */
    private static final String OBEDIENT =
            "trap 'echo told; exit 3' TERM; echo session $(($ZKLOCK_SESSION)); echo pid $$;"
                    + " while :; do sleep 0.1; done";

    private static final String DEAF =
            "trap '' TERM; echo session $(($ZKLOCK_SESSION)); echo pid $$; while :; do sleep 0.1; done";

    @TempDir
    private Path folder;

    private RunningZkLock run(EmbeddedZooKeeper server, String... arguments) throws IOException, InterruptedException {
        return RunningZkLock.start(folder, server, arguments);
    }

    private static EmbeddedZooKeeper quickServer() {
        return EmbeddedZooKeeper.builder().tickTime(Duration.ofMillis(200)).start();
    }

    @Test
    void expiredSession_endsTheCommandAndIsToldAs76() throws IOException, InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                RunningZkLock zklock = run(server, "run", "/loss", "sh", "-c", OBEDIENT)) {
            assertThat(server.expireSession(zklock.number("session"))).isTrue();
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(76);
            assertThat(zklock.out()).contains("told");
            assertThat(zklock.err()).contains("the lock /loss is lost (").contains("; the command is being ended");
            RunningZkLock.awaitGone(zklock.number("pid"));
        }
    }

    @Test
    void commandIgnoringTerm_isKilledAfterTheGrace() throws IOException, InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                RunningZkLock zklock = run(server, "run", "--grace", "0.5", "/loss", "sh", "-c", DEAF)) {
            assertThat(server.expireSession(zklock.number("session"))).isTrue();
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(76);
            assertThat(ProcessHandle.of(zklock.number("pid"))).isEmpty();
        }
    }

    @Test
    void grandchildren_areEnded_evenIfTheyIgnoreTermOrLeaveTheGroup() throws IOException, InterruptedException {
        String deaf = "sh -c 'trap \"\" TERM; echo deaf $$; while :; do sleep 0.1; done' & ";
        String orphan = "(sh -c 'echo orphan $$; while :; do sleep 0.1; done' &) ; ";
        String away = "setsid sh -c 'trap \"\" TERM; echo away $$; while :; do sleep 0.1; done' & ";
        String command = deaf + orphan + away + OBEDIENT;
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                RunningZkLock zklock = run(server, "run", "--grace", "1", "/loss", "sh", "-c", command)) {
            long[] all = {zklock.number("deaf"), zklock.number("orphan"), zklock.number("away"), zklock.number("pid")};
            assertThat(server.expireSession(zklock.number("session"))).isTrue();
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(76);
            assertThat(zklock.out()).contains("told");
            for (long pid : all) {
                RunningZkLock.awaitGone(pid);
            }
        }
    }

    /** The deaf one is killed when its parent has gone, so that it becomes a child of zklock, which does not reap it. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void deadButUnreapedProcess_isNotWaitedFor() throws IOException, InterruptedException {
        String deaf = "sh -c 'trap \"\" TERM; echo deaf $$; while :; do sleep 0.1; done' & ";
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                RunningZkLock zklock = RunningZkLock.startAsReaper(
                        folder, server, "run", "--grace", "1", "/loss", "sh", "-c", deaf + OBEDIENT)) {
            zklock.number("deaf");
            zklock.number("pid");
            assertThat(server.expireSession(zklock.number("session"))).isTrue();
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(76);
            assertThat(zklock.err()).doesNotContain("still running");
        }
    }

    /** The filler sleeps only when the pipe is full. The shell itself says there what has ended its children, so it must not. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void fullStandardError_keepsNeitherTheCommandNorTheLock() throws IOException, InterruptedException {
        String fill = "cat /dev/zero >&2 & echo filler $!; exec 2>/dev/null; ";
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                TestClients clients = TestClients.of(server);
                RunningZkLock zklock = RunningZkLock.startUnread(
                        folder, server, "run", "-v", "--on-revoke=term", "/asked", "sh", "-c", fill + OBEDIENT)) {
            long filler = zklock.number("filler");
            zklock.number("pid");
            await().atMost(RunningZkLock.LIMIT)
                    .until(() ->
                            zklock.unread() > 1000 && RunSignalIT.state(filler).startsWith("S"));
            assertThat(ask(clients.open(), Duration.ofSeconds(60)).await(RunningZkLock.LIMIT))
                    .hasValue(RevocationOutcome.GIVEN_BACK);
            assertThat(zklock.awaitExit()).isEqualTo(3);
        }
    }

    @Test
    void ignoredLoss_isReportedAndTheCommandContinues() throws IOException, InterruptedException {
        Path go = folder.resolve("go");
        String command = "echo session $(($ZKLOCK_SESSION)); until [ -e '" + go + "' ]; do sleep 0.1; done; exit 5";
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                RunningZkLock zklock = run(server, "run", "--on-lost=ignore", "/loss", "sh", "-c", command)) {
            assertThat(server.expireSession(zklock.number("session"))).isTrue();
            zklock.awaitErr("; the command continues");
            Files.createFile(go);
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(5);
        }
    }

    @Test
    void serverGoneForGood_isALossOnceTheSessionExpires() throws IOException, InterruptedException {
        try (EmbeddedZooKeeper server = quickServer();
                RunningZkLock zklock = run(server, "run", "--session-timeout", "6", "/loss", "sh", "-c", OBEDIENT)) {
            zklock.number("pid");
            server.stop();
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(76);
            assertThat(zklock.out()).contains("told");
        }
    }

    @Test
    void serverLostWhileWaiting_isReportedAsNoServerAfterTheTimeout() throws IOException, InterruptedException {
        assertServerLostIsReported(6);
    }

    private void assertServerLostIsReported(int seconds) throws IOException, InterruptedException {
        try (EmbeddedZooKeeper server = quickServer();
                RunningZkLock holder = run(server, "run", "/loss", "sh", "-c", OBEDIENT)) {
            holder.number("pid");
            try (RunningZkLock waiter =
                    run(server, "run", "-w", "" + seconds, "--session-timeout", "4", "/loss", "echo", "ran")) {
                await().atMost(RunningZkLock.LIMIT)
                        .until(() -> server.children("/loss").size() == 2 || !waiter.isAlive());
                server.stop();
                int code = waiter.awaitExit();
                if (!waiter.err().contains("connection was lost") && seconds < 50) {
                    assertServerLostIsReported(3 * seconds); // the time was over before the server was lost
                    return;
                }
                assertThat(code).as(waiter.err()).isEqualTo(69);
                assertThat(waiter.out()).isEmpty();
                assertThat(waiter.err().lines()).singleElement().asString().contains("connection was lost");
            }
        }
    }

    /** Its server refuses the session for ever, and never calls it over. */
    @Test
    @Tag("H109")
    void dataLostWhileWaiting_runsTheCommandInTheNextSession() throws Exception {
        Path data = folder.resolve("data");
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.builder()
                        .tickTime(Duration.ofMillis(200))
                        .dataDirectory(data)
                        .start();
                ZooKeeperClient holder = TestClients.connect(server.connectString(), Duration.ofSeconds(4))) {
            for (int i = 0; i < 100; i++) {
                server.createNode("/before-" + i, new byte[0]);
            }
            Lease held = new InterProcessMutex(holder, "/loss").acquire();
            try (RunningZkLock waiter = run(server, "run", "--session-timeout", "4", "/loss", "echo", "ran")) {
                await().atMost(RunningZkLock.LIMIT)
                        .until(() -> server.children("/loss").size() == 2);
                server.stop();
                try (Stream<Path> files = Files.walk(data)) {
                    for (Path file : files.filter(Files::isRegularFile).toList()) {
                        Files.delete(file);
                    }
                }
                server.restart();
                assertThat(waiter.awaitExit()).as(waiter.err()).isZero();
                assertThat(waiter.out()).isEqualTo("ran\n");
                assertThat(held.state()).isEqualTo(LeaseState.LOST);
            }
        }
    }

    @Test
    void serverGoneAtTheEnd_doesNotChangeTheExitCode() throws IOException, InterruptedException {
        Path go = folder.resolve("go");
        String command = "echo pid $$; until [ -e '" + go + "' ]; do sleep 0.1; done; exit 5";
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                RunningZkLock zklock = run(server, "run", "--session-timeout", "30", "/loss", "sh", "-c", command)) {
            zklock.number("pid");
            server.stop();
            Files.createFile(go);
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(5);
        }
    }

    @Test
    void lossWhileTheLauncherIsStopped_endsTheCommandAllTheSame() throws IOException, InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                RunningZkLock zklock = run(server, "run", "/loss", "sh", "-c", OBEDIENT)) {
            long session = zklock.number("session");
            long pid = zklock.number("pid");
            zklock.signal("STOP");
            assertThat(server.expireSession(session)).isTrue();
            await().atMost(RunningZkLock.LIMIT)
                    .until(() -> RunSignalIT.state(pid).startsWith("Z"));
            assertThat(zklock.isAlive()).isTrue();
            zklock.signal("CONT");
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(76);
            assertThat(zklock.out()).contains("told");
        }
    }

    @Test
    void lossOfTheOuterLock_endsTheInnerZkLockAndItsCommand() throws IOException, InterruptedException {
        String inner = String.join(" ", RunningZkLock.commandLine("run", "/inner"));
        String command =
                "echo session $(($ZKLOCK_SESSION)); " + inner + " sh -c 'echo inner $$; while :; do sleep 0.1; done'";
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                RunningZkLock zklock = run(server, "run", "/outer", "sh", "-c", command)) {
            long pid = zklock.number("inner");
            assertThat(server.expireSession(zklock.number("session"))).isTrue();
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(76);
            RunningZkLock.awaitGone(pid);
            await().atMost(RunningZkLock.LIMIT)
                    .until(() -> server.children("/inner").isEmpty());
        }
    }

    @Test
    void requestWithOnRevokeTerm_endsTheCommand() throws IOException, InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                TestClients clients = TestClients.of(server);
                RunningZkLock zklock = run(server, "run", "--on-revoke=term", "/asked", "sh", "-c", OBEDIENT)) {
            zklock.number("pid");
            assertThat(ask(clients.open(), Duration.ofSeconds(60)).await(RunningZkLock.LIMIT))
                    .hasValue(RevocationOutcome.GIVEN_BACK);
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(3);
            assertThat(zklock.err())
                    .contains("asks for the lock /asked, and takes it away after 60.000 s; the command is being ended");
        }
    }

    @Test
    void ignoredRequest_isReportedAndABrokenLeaseIsALoss() throws IOException, InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                TestClients clients = TestClients.of(server);
                RunningZkLock zklock = run(server, "run", "/asked", "sh", "-c", OBEDIENT)) {
            zklock.number("pid");
            Revocation revocation = ask(clients.open(), Duration.ofSeconds(2));
            zklock.awaitErr("asks for the lock /asked, and takes it away after 2.000 s; the command continues");
            assertThat(revocation.await(RunningZkLock.LIMIT)).hasValue(RevocationOutcome.BROKEN);
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(76);
            assertThat(zklock.err()).contains("the lock /asked is lost (its node was deleted by somebody else)");
        }
    }

    private static Revocation ask(ZooKeeperClient client, Duration grace) throws InterruptedException {
        return new Revoker(client)
                .withGrace(grace)
                .request(new InterProcessMutex(client, "/asked"))
                .get(0);
    }
}
