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
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The keeper of a lock, to which a test plays the launcher: what it does when the lock, the session or the server goes,
 * and when the launcher is gone or stands still.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Execution(ExecutionMode.CONCURRENT)
class KeeperIT {
    /** Nothing that could be ended. */
    private static final String NONE = "group 0 0 0";

    @TempDir
    private Path folder;

    private static EmbeddedZooKeeper quickServer() {
        return EmbeddedZooKeeper.builder().tickTime(Duration.ofMillis(200)).start();
    }

    /** A command in a group of its own, which ignores TERM. */
    private Process deafCommand() throws IOException {
        Path out = folder.resolve("deaf-command");
        Process command = new ProcessBuilder("setsid", "sh", "-c", LauncherTest.DEAF)
                .redirectOutput(out.toFile())
                .start();
        await().atMost(RunningZkLock.LIMIT).until(() -> Files.readString(out).endsWith("\n"));
        return command;
    }

    private static void deleteNode(EmbeddedZooKeeper server) {
        server.deleteNode("/keeper/" + server.children("/keeper").get(0));
    }

    private static long session(PlayedLauncher launcher) {
        return Long.decode(launcher.environment().get("ZKLOCK_SESSION"));
    }

    // ---- the launcher is gone, or stands still

    @Test
    void launcherThatIsGone_hasItsCommandEnded_beforeTheLockIsFree() throws IOException, InterruptedException {
        Process command = deafCommand();
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                PlayedLauncher launcher = PlayedLauncher.start(server, "run", "--grace=1", "/keeper", "x")) {
            launcher.take("group " + command.pid() + " 0 0");
            launcher.die();
            await().atMost(RunningZkLock.LIMIT)
                    .pollInterval(Duration.ofMillis(5))
                    .until(() -> server.children("/keeper").isEmpty());
            assertThat(RunningZkLock.runs(command.pid()))
                    .as("the command, when the lock is free")
                    .isFalse();
            assertThat(launcher.awaitCode()).isEqualTo(143);
        } finally {
            command.destroyForcibly();
        }
    }

    @Test
    void launcherThatIsGone_hasItsCommandWaitedFor_ifThatMayOutliveTheLock() throws IOException, InterruptedException {
        Process command = deafCommand();
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                PlayedLauncher launcher = PlayedLauncher.start(server, "run", "--on-lost=ignore", "/keeper", "x")) {
            launcher.take("group " + command.pid() + " 0 0");
            launcher.die();
            await().during(Duration.ofMillis(500))
                    .until(() -> server.children("/keeper").size() == 1);
            assertThat(command.isAlive()).isTrue();
            command.destroyForcibly();
            launcher.awaitCode();
            assertThat(server.children("/keeper")).isEmpty();
        } finally {
            command.destroyForcibly();
        }
    }

    /** In a container, often nobody asks for the exit code of a process whose parent was killed. */
    @Test
    @Tag("H267")
    void launcherThatIsGone_hasItsCommandWaitedFor_notItsExitCode() throws IOException, InterruptedException {
        Process parent = new ProcessBuilder("sh", "-c", "sleep 1000 & echo $!; exec sleep 1000").start();
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                PlayedLauncher launcher = PlayedLauncher.start(server, "run", "--on-lost=ignore", "/keeper", "x")) {
            long command = Long.parseLong(parent.inputReader().readLine());
            launcher.take("group " + command + " 0 0");
            launcher.die();
            RunningZkLock.signal("KILL", command);
            launcher.awaitCode();
            assertThat(server.children("/keeper")).isEmpty();
            assertThat(RunningZkLock.state(command)).startsWith("Z");
        } finally {
            parent.descendants().forEach(ProcessHandle::destroyForcibly);
            parent.destroyForcibly();
        }
    }

    /** The first reader that was found is gone, and others may not be. */
    @Test
    void launcherThatIsGone_hasAllReadersWaitedFor_ifTheyMayOutliveTheLock() throws IOException {
        Path asked = folder.resolve("asked");
        Path gone = folder.resolve("gone");
        Path file = Files.writeString(
                folder.resolve("launcher"),
                "#!/bin/sh\necho \"$@\" >>" + asked + "; until [ -e " + gone + " ]; do sleep 0.1; done\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                PlayedLauncher launcher = PlayedLauncher.startBy(file, server, "hold", "--on-lost=ignore", "/keeper")) {
            launcher.take("readers 0 pipe:[7] 0");
            launcher.die();
            await().atMost(RunningZkLock.LIMIT).until(() -> Files.exists(asked) || !launcher.isAlive());
            assertThat(asked).exists();
            assertThat(server.children("/keeper")).hasSize(1);
            Files.createFile(gone);
            launcher.awaitCode();
            assertThat(server.children("/keeper")).isEmpty();
            assertThat(asked).hasContent("--await pipe:[7]");
        }
    }

    @Test
    void launcherThatStandsStill_hasItsCommandEnded() throws IOException, InterruptedException {
        Process command = deafCommand();
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                PlayedLauncher launcher = PlayedLauncher.start(server, "run", "--grace=1", "/keeper", "x")) {
            launcher.take("group " + command.pid() + " 0 0");
            deleteNode(server);
            launcher.await("+stop");
            launcher.say("ending");
            assertThat(launcher.awaitCode()).as(launcher.err()).isEqualTo(76);
            assertThat(RunningZkLock.runs(command.pid())).isFalse();
        } finally {
            command.destroyForcibly();
        }
    }

    @Test
    void launcherThatIsGoneWhileItWaits_leavesNoNode() throws IOException, InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                TestClients clients = TestClients.of(server);
                Lease lease = new InterProcessMutex(clients.open(), "/keeper").acquire();
                PlayedLauncher launcher = PlayedLauncher.start(server, "run", "/keeper", "x")) {
            launcher.go();
            RunningZkLock.awaitNodes(server, "/keeper", 2);
            launcher.die();
            launcher.awaitCode();
            assertThat(server.children("/keeper")).hasSize(1);
            await().until(lease::isValid);
        }
    }

    @Test
    void grantThatTheLauncherDoesNotTake_isGivenBack() throws IOException {
        try (EmbeddedZooKeeper server = quickServer();
                PlayedLauncher launcher = PlayedLauncher.start(server, "run", "--session-timeout=4", "/keeper", "x")) {
            launcher.go();
            launcher.await("+granted ");
            launcher.awaitErr("/keeper was granted, and ");
            launcher.say("target " + NONE); // too late
            assertThat(launcher.awaitCode()).isEqualTo(70);
            // On a machine that stood still meanwhile, the session may have ended sooner.
            assertThat(launcher.err())
                    .containsPattern("and (is given back after 4.000 s|lost before anything was started)");
            assertThat(launcher.heard()).doesNotContain("+watched");
            RunningZkLock.awaitNodes(server, "/keeper", 0);
        }
    }

    @Test
    void grantThatIsLostBeforeTheLauncherTakesIt_startsNothing() throws IOException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                PlayedLauncher launcher = PlayedLauncher.start(server, "run", "/keeper", "x")) {
            launcher.go();
            launcher.await("+granted ");
            assertThat(server.expireSession(session(launcher))).isTrue();
            await().atMost(RunningZkLock.LIMIT).until(() -> {
                launcher.say("ask");
                return launcher.await("+").equals("+stop");
            });
            launcher.say("target " + NONE);
            await().atMost(RunningZkLock.LIMIT)
                    .until(() -> !launcher.isAlive() || launcher.heard().contains("+watched"));
            assertThat(launcher.heard()).doesNotContain("+watched");
            assertThat(launcher.awaitCode()).as(launcher.err()).isEqualTo(70);
            assertThat(launcher.err()).contains("/keeper was granted, and lost before anything was started");
        }
    }

    /** As under a limit of processes. */
    @Test
    void commandThatCannotBeStarted_givesTheLockBackAtOnce() throws IOException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                PlayedLauncher launcher = PlayedLauncher.start(server, "run", "/keeper", "x")) {
            launcher.go();
            launcher.await("+granted ");
            launcher.say("over 70");
            assertThat(launcher.awaitCode()).isEqualTo(70);
            assertThat(launcher.err()).isEmpty();
            assertThat(server.children("/keeper")).isEmpty();
        }
    }

    // ---- the lock is lost, or asked for

    @ParameterizedTest
    @CsvSource({"run --on-lost=ignore /keeper x, command", "hold --on-lost=ignore /keeper, script"})
    void lossThatIsIgnored_isReported(String line, String what) throws IOException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                PlayedLauncher launcher = PlayedLauncher.start(server, line.split(" "))) {
            launcher.take(NONE);
            assertThat(server.expireSession(session(launcher))).isTrue();
            launcher.awaitErr("; the " + what + " continues");
            launcher.say("over 5");
            assertThat(launcher.awaitCode()).isEqualTo(5);
        }
    }

    @Test
    void request_endsTheCommand_withOnRevoke() throws IOException, InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                TestClients clients = TestClients.of(server);
                PlayedLauncher launcher = PlayedLauncher.start(server, "run", "--on-revoke=term", "/keeper", "x")) {
            launcher.take(NONE);
            Revocation revocation = ask(clients.open(), Duration.ofSeconds(600));
            launcher.await("+stop");
            launcher.say("over 3");
            assertThat(revocation.await(RunningZkLock.LIMIT)).hasValue(RevocationOutcome.GIVEN_BACK);
            assertThat(launcher.awaitCode()).as(launcher.err()).isEqualTo(3);
            assertThat(launcher.err())
                    .contains(
                            "asks for the lock /keeper, and takes it away after 600.000 s; the command is being ended");
        }
    }

    /** It may be written later than the command ends, and nothing is read of a keeper that has ended. */
    @Test
    void reasonToEndTheCommand_isToldBeforeTheKeeperEnds() throws IOException, InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                TestClients clients = TestClients.of(server);
                PlayedLauncher launcher = PlayedLauncher.start(server, "run", "--on-revoke=term", "/keeper", "x")) {
            launcher.take(NONE);
            launcher.haltErr();
            ask(clients.open(), Duration.ofSeconds(600));
            launcher.await("+stop");
            launcher.say("over 3");
            await().during(Duration.ofSeconds(1))
                    .atMost(RunningZkLock.LIMIT)
                    .until(() ->
                            launcher.isAlive() && server.children("/keeper").size() == 1);
            launcher.continueErr();
            assertThat(launcher.awaitCode()).as(launcher.err()).isEqualTo(3);
            assertThat(launcher.err()).contains("; the command is being ended");
        }
    }

    @Test
    void requestThatIsIgnored_isReported_andALockThatIsTakenAwayIsALoss() throws IOException, InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                TestClients clients = TestClients.of(server);
                PlayedLauncher launcher = PlayedLauncher.start(server, "run", "/keeper", "x")) {
            launcher.take(NONE);
            ask(clients.open(), Duration.ofSeconds(600));
            launcher.awaitErr("asks for the lock /keeper, and takes it away after 600.000 s; the command continues");
            deleteNode(server);
            launcher.await("+stop");
            launcher.say("over 3");
            assertThat(launcher.awaitCode()).as(launcher.err()).isEqualTo(76);
            assertThat(launcher.err()).contains("the lock /keeper is lost (its node was deleted by somebody else)");
        }
    }

    private static Revocation ask(ZooKeeperClient client, Duration grace) throws InterruptedException {
        return new Revoker(client)
                .withGrace(grace)
                .request(new InterProcessMutex(client, "/keeper"))
                .get(0);
    }

    // ---- the server goes

    /** Its session survives if this machine stands still for some seconds. */
    @Test
    void serverGoneForGood_isALossOnceTheSessionExpires() throws IOException {
        try (EmbeddedZooKeeper server = quickServer();
                PlayedLauncher launcher = PlayedLauncher.start(server, "run", "--session-timeout=10", "/keeper", "x")) {
            launcher.take(NONE);
            server.stop();
            launcher.await("+stop");
            launcher.say("over 3");
            assertThat(launcher.awaitCode()).as(launcher.err()).isEqualTo(76);
        }
    }

    @Test
    void serverGoneAtTheEnd_doesNotChangeTheExitCode() throws IOException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                PlayedLauncher launcher =
                        PlayedLauncher.start(server, "run", "--session-timeout=600", "/keeper", "x")) {
            launcher.take(NONE);
            server.stop();
            launcher.say("over 5");
            assertThat(launcher.awaitCode()).as(launcher.err()).isEqualTo(5);
        }
    }

    @Test
    void serverLostWhileWaiting_isReportedAsNoServerAfterTheTimeout() throws IOException, InterruptedException {
        assertServerLostIsReported(6);
    }

    private void assertServerLostIsReported(int seconds) throws IOException, InterruptedException {
        try (EmbeddedZooKeeper server = quickServer();
                TestClients clients = TestClients.of(server);
                Lease lease = new InterProcessMutex(clients.open(), "/keeper").acquire();
                PlayedLauncher launcher = PlayedLauncher.start(
                        server, "run", "-w", "" + seconds, "--session-timeout=4", "/keeper", "x")) {
            launcher.go();
            await().atMost(RunningZkLock.LIMIT)
                    .until(() -> server.children("/keeper").size() == 2 || !launcher.isAlive());
            server.stop();
            int code = launcher.awaitCode();
            if (!launcher.err().contains("connection was lost") && seconds < 50) {
                assertServerLostIsReported(3 * seconds); // the time was over before the server was lost
                return;
            }
            assertThat(code).as(launcher.err()).isEqualTo(69);
            assertThat(launcher.err().lines()).singleElement().asString().contains("connection was lost");
        }
    }

    /**
     * Its server refuses the session for ever, and never calls it over. The sessions survive if this machine stands
     * still for some seconds.
     */
    @Test
    @Tag("H109")
    void dataLostWhileWaiting_isWaitedForInTheNextSession() throws Exception {
        Path data = folder.resolve("data");
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.builder()
                        .tickTime(Duration.ofMillis(200))
                        .dataDirectory(data)
                        .start();
                ZooKeeperClient holder = TestClients.connect(server.connectString(), Duration.ofSeconds(10))) {
            for (int i = 0; i < 100; i++) {
                server.createNode("/before-" + i, new byte[0]);
            }
            Lease held = new InterProcessMutex(holder, "/keeper").acquire();
            try (PlayedLauncher launcher =
                    PlayedLauncher.start(server, "run", "--session-timeout=10", "/keeper", "x")) {
                launcher.go();
                RunningZkLock.awaitNodes(server, "/keeper", 2);
                server.stop();
                try (Stream<Path> files = Files.walk(data)) {
                    for (Path file : files.filter(Files::isRegularFile).toList()) {
                        Files.delete(file);
                    }
                }
                server.restart();
                launcher.await("+granted ");
                launcher.say("target " + NONE);
                launcher.say("over 0");
                assertThat(launcher.awaitCode()).as(launcher.err()).isZero();
                await().atMost(RunningZkLock.LIMIT).until(() -> held.state() == LeaseState.LOST);
            }
        }
    }

    // ---- at a terminal

    @Test
    void waitAtATerminal_isToldWhoHolds() throws IOException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                PlayedLauncher web1 =
                        PlayedLauncher.start(server, "lead", "--label=x@web1", "--pause=0", "/keeper", "x");
                PlayedLauncher web2 =
                        PlayedLauncher.start(server, "lead", "--label=x@web2", "--pause=0", "/keeper", "x")) {
            web1.take(NONE);
            web2.await("+command ");
            web2.say("go terminal");
            web2.await("+busy /keeper, held by x@web1 (queued since ");
            web1.say("over 0 again");
            web1.await("+again");
            awaitPastBusy(web2, "+granted ");
            web2.say("target " + NONE);
            web2.await("+watched");
            RunningZkLock.awaitNodes(server, "/keeper", 2);
            web2.say("over 0 again");
            web2.await("+again");
            web2.await("+busy /keeper, held by x@web1 (queued since ");
        }
    }

    /** What it does not read would fill its pipe, and the grant would wait for room there. */
    @Test
    @Tag("H226")
    void stoppedLauncherAtATerminal_isToldOnce() throws IOException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                PlayedLauncher web1 = PlayedLauncher.start(server, "run", "--label=x@web1", "/keeper", "x");
                PlayedLauncher web2 = PlayedLauncher.start(server, "run", "/keeper", "x")) {
            web1.take(NONE);
            web2.await("+command ");
            web2.say("go terminal");
            web2.await("+busy /keeper, held by x@web1 (queued since ");
            await().pollDelay(Duration.ofSeconds(11))
                    .atMost(RunningZkLock.LIMIT)
                    .untilAsserted(() -> assertThat(web2.heard()).hasSize(2));
            web2.say("read");
            web2.await("+busy /keeper, held by x@web1 (queued since ");
            web1.say("over 0");
        }
    }

    /** Waits for a line, before which others may come: a slow machine is told several times. */
    private static void awaitPastBusy(PlayedLauncher launcher, String begin) {
        String line;
        do {
            line = launcher.await("+");
        } while (line.startsWith("+busy "));
        assertThat(line).startsWith(begin);
    }

    // ---- lead

    @Test
    void commandThatCannotBeStarted_mayStartInTheNextTerm() throws IOException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                PlayedLauncher launcher = PlayedLauncher.start(server, "lead", "--pause=0", "/keeper", "x")) {
            launcher.go();
            launcher.await("+granted ");
            launcher.say("over 70 again");
            launcher.await("+again");
            launcher.await("+granted ");
            launcher.say("target " + NONE);
            launcher.await("+watched");
            launcher.say("over 5");
            assertThat(launcher.awaitCode()).isEqualTo(5);
            assertThat(launcher.err()).isEmpty();
        }
    }

    @Test
    void once_endsWithTheCommand_orAt76() throws IOException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            try (PlayedLauncher launcher = PlayedLauncher.start(server, "lead", "--once", "/keeper", "x")) {
                launcher.take(NONE).say("over 7 again");
                assertThat(launcher.awaitCode()).as(launcher.err()).isEqualTo(7);
            }
            try (PlayedLauncher launcher = PlayedLauncher.start(server, "lead", "--once", "/keeper", "x")) {
                launcher.take(NONE);
                deleteNode(server);
                launcher.await("+stop");
                launcher.say("over 3 again");
                assertThat(launcher.awaitCode()).as(launcher.err()).isEqualTo(76);
            }
        }
    }

    /**
     * The launcher gives up after the KILL on a process of another user, when the keeper has begun to end it, too. What
     * the keeper has begun must not end the next term.
     */
    @Test
    void whatOutlivesItsTerm_endsNoLaterOne() throws IOException {
        Path gone = folder.resolve("gone");
        Path ends = folder.resolve("ends");
        Path file = Files.writeString(
                folder.resolve("launcher"),
                "#!/bin/sh\n>" + ends + "; until [ -e " + gone + " ] || [ ! -e " + ends + " ]; do sleep 0.1; done\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                PlayedLauncher launcher =
                        PlayedLauncher.startBy(file, server, "lead", "--grace=0.1", "--pause=0", "/keeper", "x")) {
            launcher.take(NONE);
            deleteNode(server);
            launcher.await("+stop");
            launcher.say("ending");
            await().atMost(RunningZkLock.LIMIT).until(() -> Files.exists(ends));
            launcher.say("over 137 again");
            launcher.await("+again");
            launcher.await("+granted ");
            launcher.say("target " + NONE);
            launcher.await("+watched");
            String second = server.children("/keeper").get(0);
            Files.createFile(gone);
            await().during(Duration.ofSeconds(1))
                    .atMost(RunningZkLock.LIMIT)
                    .until(() -> server.nodeExists("/keeper/" + second));
            launcher.say("over 5");
            assertThat(launcher.awaitCode()).as(launcher.err()).isEqualTo(5);
        }
    }
}
