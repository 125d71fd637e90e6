// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.cli.Tool;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What happens to the folder in which zklock is installed, while it runs and between runs. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@WithZooKeeper
class InstalledFolderIT {
    private static final String UNTIL_TOLD =
            "trap 'echo told; exit 3' TERM; echo session $(($ZKLOCK_SESSION)); while :; do sleep 0.1; done";

    @TempDir
    private Path folder;

    private final EmbeddedZooKeeper server;

    InstalledFolderIT(EmbeddedZooKeeper server) {
        Tool.PERL.require();
        this.server = server;
    }

    private Path install(String name) throws IOException {
        Path installed = Files.createDirectories(folder.resolve(name));
        Files.copy(Path.of("target/zklock.jar"), installed.resolve("zklock.jar"));
        Files.copy(RunningZkLock.LAUNCHER, installed.resolve("zklock"));
        Files.setPosixFilePermissions(installed.resolve("zklock"), PosixFilePermissions.fromString("rwxr-xr-x"));
        return installed;
    }

    private RunningZkLock zklock(Path installed, boolean archive, String... arguments)
            throws IOException, InterruptedException {
        Map<String, String> environment = new HashMap<>(Map.of(
                "ZKLOCK_JAR", installed.resolve("zklock.jar").toString(),
                "ZKLOCK_CONNECT", server.connectString(),
                "INSTALLED", installed.toString()));
        if (!archive) {
            environment.put("ZKLOCK_CDS", "off");
        }
        return RunningZkLock.startBy(folder, environment, "cd \"$INSTALLED\"; shift; exec ./zklock \"$@\"", arguments);
    }

    private static Optional<Path> archive(Path installed) throws IOException {
        try (Stream<Path> files = Files.list(installed)) {
            return files.filter(each -> each.getFileName().toString().startsWith("zklock.jar.classes-"))
                    .findFirst();
        }
    }

    private Path awaitArchive(Path installed) throws IOException, InterruptedException {
        try (RunningZkLock first = zklock(installed, true, "run", "/folder/first", "true")) {
            assertThat(first.awaitExit()).as(first.err()).isZero();
        }
        await().atMost(RunningZkLock.LIMIT)
                .until(() ->
                        archive(installed).isPresent() && Files.notExists(installed.resolve("zklock.jar.preparing")));
        return archive(installed).orElseThrow();
    }

    /** As a copy over it does before it has copied anything: whatever is read now is not what it was. */
    private static void overwrite(Path jar) throws IOException {
        long size = Files.size(jar);
        try (FileChannel file = FileChannel.open(jar, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
            file.write(java.nio.ByteBuffer.allocate((int) size));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("H137")
    void jarReplacedInPlace_doesNotTouchWhoHolds(boolean archive) throws IOException, InterruptedException {
        Path installed = install("bin");
        if (archive) {
            awaitArchive(installed);
        }
        String path = "/folder/asked";
        try (RunningZkLock zklock = zklock(
                        installed, archive, "run", "--grace", "60", "--on-revoke=term", path, "sh", "-c", UNTIL_TOLD);
                ZooKeeperClient client = ZooKeeperClient.connect(server.connectString())) {
            zklock.number("session");
            overwrite(installed.resolve("zklock.jar"));
            new Revoker(client).request(new InterProcessMutex(client, path));
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(3);
            RunningZkLock.awaitNodes(server, path, 0);
            assertThat(zklock.out()).contains("told");
            assertNoJvmIsMentioned(zklock);
        }
    }

    /** Each term ends in another way: after the first of them the jar is no more. */
    @Test
    @Tag("H137")
    void jarReplacedInPlace_doesNotTouchWhoLeads() throws IOException, InterruptedException {
        Path installed = install("bin");
        server.createNode("/lead", new byte[0]);
        String path = "/lead/here"; // made together with the node, so nothing has been listed when the jar goes
        String leads =
                "trap 'echo told; exit 3' TERM; echo session $(($ZKLOCK_SESSION)); until [ -e go ]; do sleep 0.1; done;"
                        + " rm go; echo went";
        try (RunningZkLock zklock = zklock(installed, false, "lead", "--pause=0", path, "sh", "-c", leads)) {
            awaitTerms(zklock, 1);
            overwrite(installed.resolve("zklock.jar"));
            server.deleteNode(path + "/" + server.children(path).get(0));
            awaitTerms(zklock, 2);
            assertThat(server.expireSession(lastSession(zklock))).isTrue();
            awaitTerms(zklock, 3);
            Files.createFile(installed.resolve("go"));
            awaitTerms(zklock, 4);
            assertThat(zklock.out().lines()).containsSubsequence("told", "told", "went");
            zklock.signal("KILL");
            assertThat(zklock.awaitExit()).isEqualTo(137);
            RunningZkLock.awaitNodes(server, path, 0);
            assertThat(zklock.out()).endsWith("told\n");
            assertNoJvmIsMentioned(zklock);
        }
    }

    private static void awaitTerms(RunningZkLock zklock, int count) {
        await().atMost(RunningZkLock.LIMIT)
                .untilAsserted(() -> assertThat(zklock.lines())
                        .as(zklock.err())
                        .filteredOn(line -> line.startsWith("session "))
                        .hasSize(count));
    }

    private static long lastSession(RunningZkLock zklock) throws IOException {
        return Long.parseLong(zklock.out().strip().replaceAll("(?s).*session ", ""));
    }

    private static void assertNoJvmIsMentioned(RunningZkLock zklock) throws IOException {
        assertThat(zklock.err()).doesNotContain("JVM", "NoClassDefFoundError", "\tat ");
    }

    @Test
    @Tag("H138")
    void damagedArchive_isRemoved_andZkLockStartsWithout() throws IOException, InterruptedException {
        Path installed = install("bin");
        Path archive = awaitArchive(installed);
        assertThat(archive.toFile().setWritable(true)).isTrue();
        try (FileChannel file = FileChannel.open(archive, StandardOpenOption.WRITE)) {
            file.truncate(100_000);
        }
        Path damaged = Files.copy(archive, folder.resolve("damaged"));
        assertStartsWithout(archive, "/folder/x: free", "ls", "/folder/x");
        Files.copy(damaged, archive, StandardCopyOption.COPY_ATTRIBUTES);
        assertStartsWithout(archive, "ran\n", "run", "/folder/x", "echo", "ran");
    }

    private void assertStartsWithout(Path archive, String said, String... line)
            throws IOException, InterruptedException {
        Path installed = archive.getParent();
        try (RunningZkLock zklock = zklock(installed, true, line)) {
            assertThat(zklock.awaitExit()).as(zklock.err()).isZero();
            assertThat(zklock.out()).contains(said);
            assertThat(zklock.err()).isEmpty();
            assertThat(archive).doesNotExist();
            try (Stream<Path> files = Files.list(installed)) {
                assertThat(files.map(each -> each.getFileName().toString()))
                        .containsExactlyInAnyOrder("zklock", "zklock.jar");
            }
        }
    }

    /** The archive is made on top of that of the JDK's own classes, which a runtime that jlink has made does not have. */
    @Test
    @Tag("H225")
    void jvmThatCanMakeNoArchive_startsWithout() throws IOException, InterruptedException {
        Path installed = install("bin");
        Map<String, String> environment = Map.of(
                "ZKLOCK_JAR", installed.resolve("zklock.jar").toString(),
                "ZKLOCK_CONNECT", server.connectString(),
                "ZKLOCK_JAVA_OPTIONS", "-Xshare:off");
        try (RunningZkLock run = RunningZkLock.start(folder, environment, "run", "/folder/bare", "echo", "ran")) {
            assertThat(run.awaitExit()).as(run.err()).isZero();
            assertThat(run.out()).isEqualTo("ran\n");
        }
        await().atMost(RunningZkLock.LIMIT).until(() -> Files.notExists(installed.resolve("zklock.jar.preparing")));
        assertThat(archive(installed)).isEmpty();
    }

    /** A shell, and perl's glob, would take the name apart, and find the neighbours. */
    @Test
    @Tag("H138")
    void oddNameOfTheFolder_isTakenAsItIs() throws IOException, InterruptedException {
        Path installed = install("it's [h]e*\nre \"$x\"");
        Path stranger = Files.createFile(folder.resolve("its"));
        Path old = Files.createFile(installed.resolve("zklock.jar.classes-1-2-3-4"));
        Path strangers = Files.createFile(installed.resolve("zklock.jar.classes-of mine"));
        try (RunningZkLock first = zklock(installed, true, "run", "/folder/odd", "true")) {
            assertThat(first.awaitExit()).as(first.err()).isZero();
        }
        await().atMost(RunningZkLock.LIMIT).until(() -> !Files.exists(old));
        await().atMost(RunningZkLock.LIMIT).until(() -> {
            try (Stream<Path> files = Files.list(installed)) {
                return files.anyMatch(each -> each.getFileName().toString().matches("zklock\\.jar\\.classes-[0-9-]+"));
            }
        });
        assertThat(List.of(stranger, strangers)).allMatch(Files::exists);
        try (RunningZkLock second = zklock(installed, true, "run", "/folder/odd", "echo", "ran")) {
            assertThat(second.awaitExit()).as(second.err()).isZero();
            assertThat(second.out()).isEqualTo("ran\n");
        }
    }
}
