// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.Ran;
import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.core.InterProcessLock;
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
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code zklock run} says of a lock that it does not get, and its exit code; a test plays the launcher. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@WithZooKeeper
class RunOutcomeIT {
    @TempDir
    private Path folder;

    private final EmbeddedZooKeeper server;

    RunOutcomeIT(EmbeddedZooKeeper server) {
        this.server = server;
    }

    private Ran run(String... arguments) throws IOException {
        return PlayedLauncher.run(server, arguments);
    }

    private static void assertNotRun(Ran ran) {
        assertThat(ran.out()).as(ran.err()).doesNotContain("+granted");
    }

    /**
     * Asks for a lock with a short wait, and again with longer ones until it says what is expected: to find that out
     * takes longer on a busy machine.
     */
    private void assertFailsInTime(Map<String, String> environment, int code, String told, String... line)
            throws IOException {
        Ran ran = new Ran(0, "", "");
        for (int seconds = 1;
                seconds < RunningZkLock.LIMIT.toSeconds() && !ran.err().contains(told);
                seconds *= 3) {
            ran = PlayedLauncher.run(
                    environment,
                    Stream.concat(Stream.of("run", "--wait=" + seconds), Stream.of(line))
                            .toArray(String[]::new));
            assertThat(ran.code()).as(ran.err()).isIn(code, 69);
            assertThat(ran.err().lines()).hasSize(1);
            assertNotRun(ran);
        }
        assertThat(ran.err()).contains(told);
        assertThat(ran.code()).as(ran.err()).isEqualTo(code);
    }

    @Test
    void busyLock_isAConflict_toldWithTheHolder() throws IOException, InterruptedException {
        try (ZooKeeperClient client = ZooKeeperClient.builder()
                        .connectString(server.connectString())
                        .ownerLabel("deploy@web1")
                        .build();
                Lease lease = new InterProcessMutex(client, "/busy").acquire()) {
            Ran atOnce = run("run", "-n", "/busy", "x");
            assertNotRun(atOnce);
            assertThat(atOnce.code()).isEqualTo(1);
            assertThat(atOnce.err()).matches("zklock: not acquired: /busy is held by deploy@web1 \\([0-9.]+ s\\)\n");
            Ran quiet = run("run", "-n", "-E", "0", "/busy", "x");
            assertNotRun(quiet);
            assertThat(quiet.code()).as(quiet.err()).isZero();
            assertThat(quiet.err()).isEmpty();
            String told = "zklock: not acquired: /busy is held by deploy@web1 (";
            assertFailsInTime(Map.of("ZKLOCK_CONNECT", server.connectString()), 9, told, "-E", "9", "/busy", "x");
            Soon.await().until(lease::isValid);
        }
    }

    @Test
    void sharedLock_isSharedAndASemaphoreHasItsLimit() throws IOException, InterruptedException {
        try (TestClients clients = TestClients.of(server);
                Lease read = new InterProcessReadWriteLock(clients.open(), "/shared")
                        .readLock()
                        .acquire();
                Lease two = new InterProcessSemaphore(clients.open(), "/semaphore", 3).acquire(2)) {
            assertThat(run("run", "-s", "-n", "/shared", "x").code()).isZero();
            assertThat(run("run", "-n", "--limit=3", "/semaphore", "x").code()).isZero();
            assertThat(run("run", "-n", "--limit=3", "--permits=2", "/semaphore", "x")
                            .code())
                    .isEqualTo(1);
            assertThat(run("run", "-x", "-n", "-E", "5", "--all", "/free,/shared", "--", "x")
                            .code())
                    .isEqualTo(5);
            Soon.await().until(() -> read.isValid() && two.isValid());
        }
    }

    private static InterProcessLock lock(ZooKeeperClient client, String options, String path) {
        return switch (options) {
            case "--limit=3" -> new InterProcessSemaphore(client, path, 3).permits(1);
            case "--limit=2" -> new InterProcessSemaphore(client, path, 2).permits(1);
            case "--limit=1" -> new InterProcessSemaphore(client, path, 1).permits(1);
            case "-x" -> new InterProcessReadWriteLock(client, path).writeLock();
            case "-s" -> new InterProcessReadWriteLock(client, path).readLock();
            default -> new InterProcessMutex(client, path);
        };
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--limit=3 | -n        | a semaphore, which zklock takes with --limit",
                "--limit=3 | -s        | a semaphore, which zklock takes with --limit",
                "-x        | -n        | a read-write lock, which zklock takes with -x or -s",
                "-s        | --limit=3 | a read-write lock, which zklock takes with -x or -s",
                "none      | -s        | a mutex, which zklock takes without -x, -s and --limit",
                "none      | --limit=3 | a mutex, which zklock takes without -x, -s and --limit",
            })
    void pathOfAnotherRecipe_isUnusable_andToldWithItsOption(String theirs, String ours, String told)
            throws IOException, InterruptedException {
        String path = "/foreign" + theirs + ours;
        try (TestClients clients = TestClients.of(server);
                Lease lease = lock(clients.open(), theirs, path).acquire()) {
            assertUnusable(run("run", ours, path, "x"), path + " is in use as " + told);
            Soon.await().until(lease::isValid);
        }
    }

    private static void assertUnusable(Ran ran, String told) {
        assertThat(ran.code()).as(ran.err()).isEqualTo(65);
        assertThat(ran.err().lines()).singleElement().asString().contains(told);
        assertNotRun(ran);
    }

    @Test
    void leaderElectionAndLock_areNoneOfTheOther() throws IOException {
        try (PlayedLauncher leader =
                PlayedLauncher.start(server, "lead", "/election", "x").take("group 0 0 0")) {
            assertUnusable(
                    run("run", "/election", "x"),
                    "/election is in use as a leader election, which zklock takes by zklock lead");
            leader.say("over 0");
        }
        try (PlayedLauncher holder =
                PlayedLauncher.start(server, "run", "/lock", "x").take("group 0 0 0")) {
            Ran lead = run("lead", "--once", "/lock", "x");
            assertUnusable(lead, "/lock is in use as a mutex");
            assertThat(lead.err()).contains("cannot be a leader election");
            holder.say("over 0");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "held"})
    void semaphoreOfAnotherLimit_isToldWithItsLimit(String use) throws IOException, InterruptedException {
        String path = "/limit" + use;
        try (TestClients clients = TestClients.of(server)) {
            Lease permit = new InterProcessSemaphore(clients.open(), path, 3).acquire();
            if (use.isEmpty()) {
                permit.close();
            }
            assertUnusable(
                    run("run", "--limit=4", path, "x"),
                    "zklock: the semaphore " + path + " was made with 3 permits, and");
        }
    }

    @Test
    void missingRights_endWithExitCode77() throws IOException {
        Path people = Files.writeString(folder.resolve("people"), "digest:owner:secret\n");
        Files.setPosixFilePermissions(people, PosixFilePermissions.fromString("rw-------"));
        Ran owner = run("run", "--auth-file", people.toString(), "--acl", "creator", "/mine/lock", "x");
        assertThat(owner.code()).as(owner.err()).isZero();
        Ran stranger = run("run", "/mine/lock", "x");
        assertThat(stranger.code()).as(stranger.err()).isEqualTo(77);
        assertThat(stranger.err().lines()).singleElement().asString().contains("/mine/lock");
        assertNotRun(stranger);
    }

    @Test
    void serverThatIsDown_orOfNoKnownName_isReportedInTime() throws IOException {
        try (EmbeddedZooKeeper stopped = EmbeddedZooKeeper.start()) {
            stopped.stop();
            Ran ran = run("run", "--connect", stopped.connectString(), "-w", "0.5", "/none", "x");
            assertThat(ran.code()).as(ran.err()).isEqualTo(69);
            assertThat(ran.err().lines())
                    .singleElement()
                    .asString()
                    .startsWith("zklock: no server of " + stopped.connectString()
                            + " answered within 0.5 s, the time of -w: ");
            assertNotRun(ran);
        }
        String told = "the host name of no.invalid:1 is unknown";
        assertFailsInTime(Map.of(), 69, told, "--connect=no.invalid:1", "/none", "x");
    }

    /** The environment is that of a command which another {@code zklock} runs. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "none | -v    | 65 | /own-none-v is held for the command that asks for it ($ZKLOCK_PATH)",
                "none | -n    | 1  | not acquired: /own-none-n is held by",
                "-s   | -s    | 0  | ''",
                "-s   | -x    | 65 | would wait for itself",
                "--limit=1 | --limit=1 | 65 | would wait for itself",
                "--limit=2 | --limit=2 | 0  | ''",
                "--limit=2 | --limit=2 --permits=2 | 65 | would wait for itself",
                "-x   | --limit=2 | 65 | is in use as a read-write lock",
            })
    @Tag("H266")
    void lockThatIsHeldForTheCommandItself_isRefused_ifItWouldWait(String outer, String inner, int code, String told)
            throws IOException, InterruptedException {
        String path = "/own-" + outer + inner.replace(' ', '-');
        try (ZooKeeperClient client = TestClients.connect(server.connectString());
                Lease lease = lock(client, outer, path).acquire()) {
            long session = client.zooKeeper().orElseThrow().getSessionId();
            Map<String, String> environment = Map.of(
                    "ZKLOCK_CONNECT",
                    server.connectString(),
                    "ZKLOCK_PATH",
                    path,
                    "ZKLOCK_SESSION",
                    "0x" + Long.toHexString(session));
            Ran ran = PlayedLauncher.run(environment, Words.split("run " + inner + " " + path + " x"));
            assertThat(ran.code()).as(ran.err()).isEqualTo(code);
            assertThat(ran.err()).contains(told);
            Soon.await().until(lease::isValid);
        }
    }

    /** Of three commands, each in a zklock of its own, the innermost asks for the lock of another one. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/outer | /middle | /outer  | /outer is held for a command around the one that asks for it ($ZKLOCK_OUTER)",
                "/outer | /middle | /middle | /middle is held for the command that asks for it ($ZKLOCK_PATH)",
                "/outer | /middle | /other  | ''",
                "--limit=2 /two | --limit=2 /two | --limit=2 /two | /two is held for ",
                "--limit=3 /three | --limit=3 /three | --limit=3 /three | ''",
            })
    @Tag("H269")
    void lockThatIsHeldForACommandFartherOut_isRefused_ifItWouldWait(
            String first, String second, String third, String told) throws IOException {
        try (PlayedLauncher outer =
                PlayedLauncher.start(server, Words.split("run " + first + " x")).take("group 0 0 0")) {
            Map<String, String> inOuter = inside(outer, Map.of());
            try (PlayedLauncher middle = PlayedLauncher.start(inOuter, Words.split("run " + second + " x"))
                    .take("group 0 0 0")) {
                Ran inner = PlayedLauncher.run(inside(middle, inOuter), Words.split("run " + third + " x"));
                assertThat(inner.code()).as(inner.err()).isEqualTo(told.isEmpty() ? 0 : 65);
                assertThat(inner.err()).contains(told);
                middle.say("over 0");
            }
            outer.say("over 0");
        }
    }

    /** The semaphore has more permits than it was configured with, and the command asks for no more than are left. */
    @Test
    @Tag("H295")
    void permitsThatAResizeHasAdded_areNoReasonToRefuse() throws IOException, InterruptedException {
        try (ZooKeeperClient client = TestClients.connect(server.connectString());
                PlayedLauncher outer = PlayedLauncher.start(server, Words.split("run --limit=2 --permits=2 /resized x"))
                        .take("group 0 0 0")) {
            new InterProcessSemaphore(client, "/resized", 2).resize(4);
            Ran inner =
                    PlayedLauncher.run(inside(outer, Map.of()), Words.split("run --limit=2 --permits=2 /resized x"));
            assertThat(inner.code()).as(inner.err()).isZero();
            outer.say("over 0");
        }
    }

    /** The command would stand behind somebody who waits until that command has ended. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "-s | -x | 65",
                "-s | -s | 0",
                "--limit=3 | --limit=3 --permits=3 | 65",
            })
    @Tag("H296")
    void lockThatIsHeldForTheCommandItself_isRefused_ifItWouldWaitBehindAWaiter(String own, String others, int code)
            throws IOException {
        String path = "/behind" + others.replace(' ', '-');
        try (PlayedLauncher outer = PlayedLauncher.start(server, Words.split("run " + own + " " + path + " x"))
                        .take("group 0 0 0");
                PlayedLauncher waiter = PlayedLauncher.start(server, Words.split("run " + others + " " + path + " x"))
                        .go()) {
            Soon.await().until(() -> server.children(path).size() == 2);
            Ran inner = PlayedLauncher.run(inside(outer, Map.of()), Words.split("run " + own + " " + path + " x"));
            assertThat(inner.code()).as(inner.err()).isEqualTo(code);
            assertThat(inner.err()).contains(code == 0 ? "" : " waits for that: it would wait for itself");
            outer.say("over 0");
            waiter.await("+granted ");
            waiter.giveBack();
        }
    }

    /** A third party holds what the waiter in front lacks. */
    @Test
    @Tag("H296")
    void waiterThatDoesNotNeedThePermitsOfTheCommand_isNoReasonToRefuse() throws IOException, InterruptedException {
        try (ZooKeeperClient client = TestClients.connect(server.connectString());
                Lease others = new InterProcessSemaphore(client, "/enough", 3).acquire(2);
                PlayedLauncher outer = PlayedLauncher.start(server, Words.split("run --limit=3 /enough x"))
                        .take("group 0 0 0");
                PlayedLauncher waiter = PlayedLauncher.start(server, Words.split("run --limit=3 --permits=2 /enough x"))
                        .go()) {
            Soon.await().until(() -> server.children("/enough").size() == 3);
            try (PlayedLauncher inner = PlayedLauncher.start(
                            inside(outer, Map.of()), Words.split("run --limit=3 /enough x"))
                    .go()) {
                Soon.await().until(() -> server.children("/enough").size() == 4);
                others.close();
                waiter.await("+granted ");
                waiter.giveBack();
                inner.await("+granted ");
                inner.giveBack();
            }
            outer.say("over 0");
        }
    }

    /** Returns the environment of the command that a zklock runs. */
    private Map<String, String> inside(PlayedLauncher zklock, Map<String, String> around) {
        Map<String, String> environment = new HashMap<>(around);
        environment.put("ZKLOCK_CONNECT", server.connectString());
        environment.putAll(zklock.environment());
        return environment;
    }

    @Test
    void lockThatWasHeldForTheCommandItself_isNot() throws IOException {
        Map<String, String> environment =
                Map.of("ZKLOCK_CONNECT", server.connectString(), "ZKLOCK_PATH", "/not-own", "ZKLOCK_SESSION", "0x1");
        assertThat(PlayedLauncher.run(environment, "run", "/not-own", "x").code())
                .isZero();
    }
}
