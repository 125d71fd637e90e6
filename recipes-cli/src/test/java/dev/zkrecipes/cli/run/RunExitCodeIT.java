// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code zklock run} as it is shipped: what the command gets, what people are told, and the exit code. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
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

    /** As after ssh from a machine that has the locale. */
    @ParameterizedTest
    @ValueSource(strings = {"C", "xx_XX.UTF-8"})
    @Tag("H116")
    void command_getsWhatItWouldGetFromFlock_andItsExitCodeIsThatOfZkLock(String locale)
            throws IOException, InterruptedException {
        String path = "/exit/l\u00f6ck-" + locale;
        Map<String, String> environment = Map.of(
                "ZKLOCK_CONNECT",
                server.connectString(),
                "LC_ALL",
                locale,
                "PERL_BADLANG",
                "0",
                "JAVA_TOOL_OPTIONS",
                "-Xnonsense");
        String start =
                "mkdir gone; cd gone; rmdir ../gone; exec \"$1\" run -v --label nightly $'/exit/l\\xc3\\xb6ck-" + locale
                        + "' -- sh -c 'echo \"$ZKLOCK_PATH $ZKLOCK_FENCE $JAVA_TOOL_OPTIONS\"; echo $ZKLOCK_SESSION; cksum; exit 7' -v";
        byte[] block = "0123456789abcde\n".repeat(1 << 16).getBytes(StandardCharsets.US_ASCII); // 1 MiB
        try (RunningZkLock zklock = RunningZkLock.startBy(folder, environment, "cd '" + folder + "'; " + start)) {
            for (int i = 0; i < 100; i++) {
                zklock.in().write(block);
            }
            zklock.in().close();
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(7);
            List<String> lines = zklock.lines();
            assertThat(lines).hasSize(3);
            assertThat(lines.get(0)).matches(path + " [1-9][0-9]* -Xnonsense");
            assertThat(lines.get(1)).matches("0x[0-9a-f]+");
            assertThat(lines.get(2)).endsWith(" " + (100L << 20));
            assertThat(zklock.err())
                    .containsPattern("zklock: acquired " + path + " after [0-9.]+ s, fencing token [0-9]+")
                    .containsPattern("zklock: held " + path + " for [0-9.]+ s; the command ended with 7");
        }
        assertThat(server.children(path)).isEmpty();
    }

    @Test
    void commandThatDoesNotExist_endsWith127_andAWrongLineWith64_andNothingIsSent()
            throws IOException, InterruptedException {
        try (RunningZkLock missing = run("run", "/exit/none", "no-such-command");
                RunningZkLock wrong = run("run", "--wait", "ten", "/exit/none", "true")) {
            assertThat(missing.awaitExit()).as(missing.err()).isEqualTo(127);
            assertThat(missing.err()).isEqualTo("zklock: no-such-command: command not found\n");
            assertThat(wrong.awaitExit()).as(wrong.err()).isEqualTo(64);
            assertThat(wrong.err()).startsWith("zklock: ").contains("'ten' is not a number of seconds");
        }
        assertThat(server.nodeExists("/exit/none")).isFalse();
    }

    @Test
    void innerLock_isTheOneThatTheEnvironmentNames_andOneThatTheOuterHoldsIsRefused()
            throws IOException, InterruptedException {
        String zklock = String.join(" ", RunningZkLock.commandLine("run"));
        String show = "echo $ZKLOCK_PATH $ZKLOCK_NODE";
        String inner = zklock + " -s /exit/inner sh -c '" + show + "'; " + zklock + " /exit/outer echo ran";
        try (RunningZkLock outer = run("run", "/exit/outer", "sh", "-c", show + "; " + inner)) {
            assertThat(outer.awaitExit()).as(outer.err()).isEqualTo(65);
            List<String> lines = outer.lines();
            assertThat(lines).hasSize(2);
            assertThat(lines.get(0)).matches("/exit/outer /exit/outer/[0-9a-f]{32}-lock-[0-9]{10}");
            assertThat(lines.get(1)).matches("/exit/inner /exit/inner/[0-9a-f]{32}-__READ__[0-9]{10}");
            assertThat(outer.err().lines())
                    .singleElement()
                    .asString()
                    .contains("/exit/outer is held for the command that asks for it ($ZKLOCK_PATH)");
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

    @Test
    void outputThatCannotBeWritten_endsWith74_andAReaderThatHasEnoughIsNoError()
            throws IOException, InterruptedException {
        String script =
                "$ZKLOCK ls /quiet >/dev/full; echo $?; set -o pipefail; $ZKLOCK ls --help | head -n 1 >/dev/null";
        try (RunningZkLock zklock = RunningZkLock.script(folder, server, script)) {
            assertThat(zklock.awaitExit()).as(zklock.err()).isZero();
            assertThat(zklock.out()).isEqualTo("74\n");
            assertThat(zklock.err()).isEqualTo("zklock: the output cannot be written: No space left on device\n");
        }
    }
}
