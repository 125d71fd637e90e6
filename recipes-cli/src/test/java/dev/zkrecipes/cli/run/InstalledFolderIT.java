// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.cli.Tool;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
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
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What happens to the folder in which zklock is installed, while it runs and between runs. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@WithZooKeeper
class InstalledFolderIT {
    private static final String UNTIL_TOLD =
            "trap 'echo told; exit 3' TERM; echo session $(($ZKLOCK_SESSION)); while [ ! -e go ]; do sleep 0.1; done; exit 5";

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
        await().atMost(RunningZkLock.LIMIT).until(() -> archive(installed).isPresent());
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
    @CsvSource({
        "true, end",
        "false, end",
        "true, deleted",
        "false, deleted",
        "false, expired",
        "false, asked",
        "false, launcher"
    })
    @Tag("H137")
    void jarReplacedInPlace_doesNotTouchWhoHolds(boolean archive, String end) throws IOException, InterruptedException {
        Path installed = install("bin");
        if (archive) {
            awaitArchive(installed);
        }
        String path = "/folder/" + end + archive;
        try (RunningZkLock zklock = zklock(
                        installed, archive, "run", "--grace", "60", "--on-revoke=term", path, "sh", "-c", UNTIL_TOLD);
                ZooKeeperClient client = ZooKeeperClient.connect(server.connectString())) {
            long session = zklock.number("session");
            overwrite(installed.resolve("zklock.jar"));
            switch (end) {
                case "deleted" ->
                    server.deleteNode(path + "/" + server.children(path).get(0));
                case "expired" -> assertThat(server.expireSession(session)).isTrue();
                case "asked" -> new dev.zkrecipes.core.Revoker(client).request(new InterProcessMutex(client, path));
                case "launcher" -> zklock.signal("KILL");
                default -> Files.createFile(installed.resolve("go"));
            }
            int code = List.of("deleted", "expired").contains(end)
                    ? 76
                    : end.equals("end") ? 5 : end.equals("asked") ? 3 : 137;
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(code);
            RunningZkLock.awaitNodes(server, path, 0);
            assertThat(zklock.out().contains("told")).isEqualTo(!end.equals("end"));
            assertThat(zklock.err()).doesNotContain("JVM", "NoClassDefFoundError", "\tat ");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"run", "ls"})
    @Tag("H138")
    void damagedArchive_isRemoved_andZkLockStartsWithout(String command) throws IOException, InterruptedException {
        Path installed = install("bin");
        Path archive = awaitArchive(installed);
        assertThat(archive.toFile().setWritable(true)).isTrue();
        try (FileChannel file = FileChannel.open(archive, StandardOpenOption.WRITE)) {
            file.truncate(100_000);
        }
        String[] line = command.equals("run")
                ? new String[] {"run", "/folder/x", "echo", "ran"}
                : new String[] {"ls", "/folder/x"};
        try (RunningZkLock zklock = zklock(installed, true, line)) {
            assertThat(zklock.awaitExit()).as(zklock.err()).isZero();
            assertThat(zklock.out()).contains(command.equals("run") ? "ran\n" : "/folder/x: free");
            assertThat(zklock.err()).isEmpty();
            assertThat(archive).doesNotExist();
            try (Stream<Path> files = Files.list(installed)) {
                assertThat(files.map(each -> each.getFileName().toString()))
                        .containsExactlyInAnyOrder("zklock", "zklock.jar");
            }
        }
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

    @Test
    void colonInTheName_isRefused() throws IOException, InterruptedException {
        try (RunningZkLock zklock = zklock(install("a:b"), true, "run", "/folder/colon", "true")) {
            assertThat(zklock.awaitExit()).isEqualTo(70);
            assertThat(zklock.err())
                    .contains("Java cannot read ", ", because its path contains a colon: rename the folder");
        }
    }
}
