// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.cli.Tool;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code zklock hold}: the rest of a script under a lock. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@WithZooKeeper
class HoldIT {
    @TempDir
    private Path folder;

    private final EmbeddedZooKeeper server;

    HoldIT(EmbeddedZooKeeper server) {
        Tool.BASH.require();
        this.server = server;
    }

    private RunningZkLock script(String hold, String rest) throws IOException, InterruptedException {
        return RunningZkLock.script(folder, server, """
                exec 9< <("$ZKLOCK" hold %s)
                read -r -u 9 fence session node || { wait $!; code=$?; echo "code $code"; exit 3; }
                """.formatted(hold) + rest);
    }

    private void awaitFree(String path) {
        RunningZkLock.awaitNodes(server, path, 0);
    }

    private boolean isHeld(String path) {
        return !server.children(path).isEmpty();
    }

    @Test
    void lock_isHeldOnceTheLineIsRead_untilTheScriptEnds() throws IOException, InterruptedException {
        try (RunningZkLock script = script("/hold/script", "echo \"$fence $session $node\"; read -r x; exit 7")) {
            script.awaitOut("/hold/script/");
            assertThat(script.out()).matches("[1-9][0-9]* 0x[0-9a-f]+ /hold/script/[0-9a-f]{32}-lock-[0-9]{10}\n");
            assertThat(isHeld("/hold/script")).isTrue();
            script.in().close();
            assertThat(script.awaitExit()).as(script.err()).isEqualTo(7);
            awaitFree("/hold/script");
            assertThat(script.err()).isEmpty();
        }
    }

    @Test
    void closedDescriptor_givesTheLockBack_thoughAnotherIsHeld() throws IOException, InterruptedException {
        String second = "exec 8< <(\"$ZKLOCK\" hold /hold/second); read -r -u 8 || exit 4; echo both; read -r x\n"
                + "exec 9<&-; echo closed; read -r x";
        try (RunningZkLock script = script("/hold/first", second)) {
            script.awaitOut("both");
            assertThat(isHeld("/hold/first")).isTrue();
            script.in().write('\n');
            script.in().flush();
            awaitFree("/hold/first");
            assertThat(isHeld("/hold/second")).isTrue();
            script.in().close();
            assertThat(script.awaitExit()).as(script.err()).isEqualTo(1);
            awaitFree("/hold/second");
        }
    }

    /** As with {@code flock 9}: what the script has started, and has its descriptor, keeps the lock. */
    @Test
    void killedScript_keepsTheLockAsLongAsWhatItHasStarted() throws IOException, InterruptedException {
        try (RunningZkLock script = script("/hold/killed", "trap : INT TERM; sh -c 'echo child $$; exec sleep 1000'")) {
            long child = script.number("child");
            script.signal("KILL");
            assertThat(script.awaitExit()).isEqualTo(137);
            assertThat(isHeld("/hold/killed")).isTrue();
            RunningZkLock.signal("KILL", child);
            awaitFree("/hold/killed");
        }
    }

    @Test
    void killedScript_leavesTheQueue() throws IOException, InterruptedException {
        try (ZooKeeperClient client = ZooKeeperClient.connect(server.connectString())) {
            new InterProcessMutex(client, "/hold/queue").acquire();
            try (RunningZkLock script = script("/hold/queue", "echo ran")) {
                RunningZkLock.awaitNodes(server, "/hold/queue", 2);
                script.signal("KILL");
                RunningZkLock.awaitNodes(server, "/hold/queue", 1);
                assertThat(script.out()).isEmpty();
            }
        }
    }

    @Test
    void descriptorClosedBeforeTheGrant_doesNotEndTheScript() throws IOException, InterruptedException {
        try (RunningZkLock script = RunningZkLock.script(
                folder, server, "exec 9< <(\"$ZKLOCK\" hold /hold/early); exec 9<&-; wait $!; echo after; exit 7")) {
            assertThat(script.awaitExit()).as(script.err()).isEqualTo(7);
            assertThat(script.out()).isEqualTo("after\n");
            assertThat(script.err()).isEmpty();
        }
    }

    @Test
    void busyLock_isToldAndTheScriptGoesOnWithoutIt() throws IOException, InterruptedException {
        try (ZooKeeperClient client = ZooKeeperClient.builder()
                .connectString(server.connectString())
                .ownerLabel("deploy@web1")
                .build()) {
            new InterProcessMutex(client, "/hold/busy").acquire();
            try (RunningZkLock script = script("-n -E 5 /hold/busy", "echo ran")) {
                assertThat(script.awaitExit()).as(script.err()).isEqualTo(3);
                assertThat(script.out()).isEqualTo("code 5\n");
                assertThat(script.err()).contains("not acquired: /hold/busy is held by deploy@web1");
            }
        }
    }

    @Test
    void loss_endsTheScriptAndWhatItHasStarted() throws IOException, InterruptedException {
        try (RunningZkLock script = script(
                "--grace 1 /hold/lost",
                "trap 'echo told; exit 4' TERM; sh -c 'trap \"\" TERM; echo child $$; while :; do sleep 0.1; done'")) {
            long child = script.number("child");
            server.deleteNode("/hold/lost/" + server.children("/hold/lost").get(0));
            assertThat(script.awaitExit()).isIn(4, 137);
            RunningZkLock.awaitGone(child);
            assertThat(script.err()).contains("the lock /hold/lost is lost (").contains("; the script is being ended");
        }
    }

    @Test
    void ignoredLoss_isToldAndTheScriptContinues() throws IOException, InterruptedException {
        try (RunningZkLock script = script("--on-lost=ignore /hold/ignored", "echo up; read -r x; exit 6")) {
            script.awaitOut("up");
            server.deleteNode(
                    "/hold/ignored/" + server.children("/hold/ignored").get(0));
            script.awaitErr("; the script continues");
            script.in().close();
            assertThat(script.awaitExit()).isEqualTo(6);
        }
    }

    @Test
    void killedHold_endsTheScript_beforeTheLockIsFree() throws IOException, InterruptedException {
        try (RunningZkLock script =
                script("--grace 1 /hold/orphaned", "echo hold $!; trap '' TERM; while :; do sleep 0.1; done")) {
            RunningZkLock.signal("KILL", script.number("hold"));
            awaitFree("/hold/orphaned");
            assertThat(RunSignalIT.state(script.pid())).matches("|Z.*");
            assertThat(script.awaitExit()).isEqualTo(137);
        }
    }

    @ParameterizedTest
    @CsvSource({"INT, 130", "TERM, 143"})
    void signal_endsAHoldWithoutAScript(String name, int code) throws IOException, InterruptedException {
        try (RunningZkLock zklock = RunningZkLock.start(folder, server, "hold", "/hold/file")) {
            zklock.awaitOut("/hold/file/");
            zklock.signal(name);
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(code);
            awaitFree("/hold/file");
        }
    }

    @Test
    void signalsOfTheTerminal_doNotEndTheHoldBeforeTheScript() throws IOException, InterruptedException {
        try (RunningZkLock script = script("/hold/signals", "echo hold $!; read -r x; exit 7")) {
            for (String name : new String[] {"INT", "TERM", "HUP", "QUIT", "TSTP"}) {
                RunningZkLock.signal(name, script.number("hold"));
            }
            script.in().close();
            assertThat(script.awaitExit()).as(script.err()).isEqualTo(7);
            awaitFree("/hold/signals");
        }
    }
}
