// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.RunningZkLock;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
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

/** A JVM that does not start is not taken for a lock that is busy: exit code 70, and one line that says what is missing. */
@Tag("H117")
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LauncherFailureIT {
    @TempDir
    private Path folder;

    private void assertFails(Map<String, String> environment, String script, String told)
            throws IOException, InterruptedException {
        String[] line = {"run", "--connect", "127.0.0.1:1", "-n", "/a", "echo", "ran"};
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

    @Test
    void wrongJar() throws IOException, InterruptedException {
        Path jar = Files.writeString(folder.resolve("zklock.jar"), "no jar");
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
}
