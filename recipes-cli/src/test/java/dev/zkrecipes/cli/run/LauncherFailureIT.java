// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.RunningZkLock;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A JVM that does not start is not taken for a lock that is busy: exit code 70, and one line that says what is missing. */
@Tag("H117")
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LauncherFailureIT {
    @TempDir
    private Path folder;

    private void assertFails(Map<String, String> environment, String script, String told)
            throws IOException, InterruptedException {
        for (String command : new String[] {"run", "hold"}) {
            String[] line = command.equals("run")
                    ? new String[] {"run", "--connect", "127.0.0.1:1", "-n", "/a", "echo", "ran"}
                    : new String[] {"hold", "--connect", "127.0.0.1:1", "-n", "/a"};
            try (RunningZkLock zklock = RunningZkLock.startBy(folder, environment, script + "; exec \"$@\"", line)) {
                assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(70);
                assertThat(zklock.err().lines())
                        .singleElement()
                        .asString()
                        .startsWith("zklock: ")
                        .contains(told);
                assertThat(zklock.out()).isEmpty();
            }
        }
    }

    @Test
    void noJava() throws IOException, InterruptedException {
        assertFails(Map.of("JAVA_HOME", "/none"), ":", "there is no /none/bin/java: JAVA_HOME is wrong");
        assertFails(Map.of(), "PATH=/none; unset JAVA_HOME", "there is no java: install Java 17 or newer");
    }

    @Test
    void noJar() throws IOException, InterruptedException {
        assertFails(Map.of("ZKLOCK_JAR", "/none/zklock.jar"), ":", "there is no /none/zklock.jar");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "no jar"})
    void wrongJar(String content) throws IOException, InterruptedException {
        Path jar = Files.writeString(folder.resolve("zklock.jar"), content);
        assertFails(Map.of("ZKLOCK_JAR", jar.toString()), ":", "an intact zklock.jar");
    }

    /** To this JVM the jar is what ours is to Java 11. */
    @Test
    void javaThatIsTooOld() throws IOException, InterruptedException {
        Path jar = folder.resolve("zklock.jar");
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, "dev.zkrecipes.cli.ZkLock");
        byte[] main = Files.readAllBytes(Path.of("target/classes/dev/zkrecipes/cli/ZkLock.class"));
        main[7] = 99; // the version of the class file
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream entries = new JarOutputStream(file, manifest)) {
            entries.putNextEntry(new JarEntry("dev/zkrecipes/cli/ZkLock.class"));
            entries.write(main);
        }
        assertFails(Map.of("ZKLOCK_JAR", jar.toString()), ":", "zklock needs Java 17 or newer");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ulimit -v 500000                                | did not start",
                "export ZKLOCK_JAVA_OPTIONS=-XX:+NoSuchOption    | NoSuchOption",
                "export ZKLOCK_JAVA_OPTIONS='-Xmx1k'             | Too small maximum heap",
                "export ZKLOCK_JAVA_OPTIONS='-cp x -Dy=z NoMain' | NoMain",
            })
    void jvmThatCannotStart(String script, String told) throws IOException, InterruptedException {
        assertFails(Map.of(), script, told);
    }

    /** Of these the exit code 1 is an answer, and may not be the JVM's. */
    @Test
    void jvmOfOtherCommands_thatCannotStart() throws IOException, InterruptedException {
        String script = "for each in ls revoke break doctor; do \"$1\" $each /a; echo $each $?; done";
        Map<String, String> environment = Map.of("ZKLOCK_JAVA_OPTIONS", "-XX:+NoSuchOption");
        try (RunningZkLock zklock = RunningZkLock.startBy(folder, environment, script)) {
            assertThat(zklock.awaitExit()).isZero();
            assertThat(zklock.out().lines()).containsExactly("ls 70", "revoke 70", "break 70", "doctor 70");
            assertThat(zklock.err()).contains("java did not start: see above (zklock needs Java 17 or newer");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"exit 1", "exit 0", "kill -9 $$", "echo x; echo y >&2; exit 2"})
    void javaThatIsNone(String script) throws IOException, InterruptedException {
        Path java = Files.createDirectories(folder.resolve("jdk/bin")).resolve("java");
        Files.write(java, ("#!/bin/sh\n" + script + "\n").getBytes(StandardCharsets.US_ASCII));
        Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwxr-xr-x"));
        String home = folder.resolve("jdk").toString();
        Map<String, String> environment = new HashMap<>(Map.of("JAVA_HOME", home));
        assertFails(
                environment,
                ":",
                home + "/bin/java did not start (" + (script.contains("kill") ? "signal 9" : "exit code"));
    }
}
