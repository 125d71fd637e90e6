// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.RunningZkLock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the launcher says if it finds no JVM, or something else in its place. */
@Tag("H117")
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LauncherFailureTest {
    @TempDir
    private Path folder;

    private void assertFails(Map<String, String> environment, String script, String told)
            throws IOException, InterruptedException {
        for (String command : new String[] {"run /a echo ran", "hold /a"}) {
            try (RunningZkLock zklock = RunningZkLock.script(
                    folder, environment, "/bin/bash", script + "; exec " + RunningZkLock.LAUNCHER + " " + command)) {
                assertFails(zklock, told);
            }
        }
    }

    /** It ends with 70 and one line, and has run nothing. */
    static void assertFails(RunningZkLock zklock, String told) throws IOException, InterruptedException {
        assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(70);
        assertThat(zklock.err().lines())
                .singleElement()
                .asString()
                .startsWith("zklock: ")
                .contains(told);
        assertThat(zklock.out()).isEmpty();
    }

    private Map<String, String> with(String name, String value) throws IOException {
        Map<String, String> environment = new HashMap<>(new ScriptedKeeper(folder).environment());
        environment.put(name, value);
        return environment;
    }

    @Test
    void noJava() throws IOException, InterruptedException {
        assertFails(with("JAVA_HOME", "/none"), ":", "there is no /none/bin/java: JAVA_HOME is wrong");
        assertFails(with("JAVA_HOME", ""), "PATH=/none", "there is no java: install Java 17 or newer");
    }

    @Test
    void noJar() throws IOException, InterruptedException {
        assertFails(with("ZKLOCK_JAR", "/none/zklock.jar"), ":", "there is no /none/zklock.jar");
    }

    @Test
    void jarInAFolderWithAColon() throws IOException, InterruptedException {
        Path jar = Files.createFile(Files.createDirectory(folder.resolve("a:b")).resolve("zklock.jar"));
        assertFails(with("ZKLOCK_JAR", jar.toString()), ":", ", because its path contains a colon: rename the folder");
    }

    @ParameterizedTest
    @ValueSource(strings = {"exit 1", "exit 0", "kill -9 $$", "echo x; echo y >&3; exit 2"})
    void javaThatIsNone(String script) throws IOException, InterruptedException {
        Map<String, String> environment =
                new ScriptedKeeper(folder).starting(script).environment();
        assertFails(
                environment,
                ":",
                environment.get("JAVA_HOME") + "/bin/java did not start ("
                        + (script.contains("kill") ? "signal 9" : "exit code"));
    }

    /** Of these the exit code 1 is an answer, and may not be the JVM's. */
    @Test
    void jvmOfOtherCommands_thatCannotStart() throws IOException, InterruptedException {
        Map<String, String> environment =
                new ScriptedKeeper(folder).starting("exit 1").environment();
        String script = "for each in ls revoke break doctor; do \"$ZKLOCK\" $each /a; echo $each $?; done";
        try (RunningZkLock zklock = RunningZkLock.script(folder, environment, "bash", script)) {
            assertThat(zklock.awaitExit()).isZero();
            assertThat(zklock.out().lines()).containsExactly("ls 70", "revoke 70", "break 70", "doctor 70");
            assertThat(zklock.err()).contains("java did not start: see above (zklock needs Java 17 or newer");
        }
    }

    /** No JVM starts there, and what a JVM says then is no reason that a user could do something about. */
    @Test
    void otherCommands_startInAFolderThatWasRemoved() throws IOException, InterruptedException {
        Map<String, String> environment =
                new ScriptedKeeper(folder).starting("echo started; exit 0").environment();
        String script = "mkdir gone; cd gone; rmdir ../gone; for each in ls doctor bench; do \"$ZKLOCK\" $each; done";
        try (RunningZkLock zklock =
                RunningZkLock.script(folder, environment, "bash", "cd '" + folder + "'; " + script)) {
            assertThat(zklock.awaitExit()).as(zklock.err()).isZero();
            assertThat(zklock.out().lines()).containsExactly("started", "started", "started");
        }
    }

    /** A command that failed ends with 2, as a JVM that does not start ends with 1. */
    @Test
    void commandThatFailed_endsWith1() throws IOException, InterruptedException {
        Map<String, String> environment =
                new ScriptedKeeper(folder).starting("exit 2").environment();
        try (RunningZkLock zklock = RunningZkLock.start(folder, environment, "ls", "/a")) {
            assertThat(zklock.awaitExit()).isEqualTo(1);
            assertThat(zklock.err()).isEmpty();
        }
    }
}
