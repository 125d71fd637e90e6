// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.cli.Tool;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** {@code zklock hold} as it is shipped, launcher and JVM: the rest of a script under a lock. */
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
    void closedDescriptor_givesTheLockBack_thoughAnotherIsHeld() throws IOException, InterruptedException {
        String second =
                "exec 8< <(\"$ZKLOCK\" hold /hold/second); read -r -u 8 || exit 4; echo \"$fence $session $node\"; echo both\n"
                        + "read -r x; exec 9<&-; echo closed; read -r x";
        try (RunningZkLock script = script("/hold/first", second)) {
            script.awaitOut("both\n");
            assertThat(script.out()).matches("[1-9][0-9]* 0x[0-9a-f]+ /hold/first/[0-9a-f]{32}-lock-[0-9]{10}\nboth\n");
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

    @Test
    void killedHold_endsTheScript_beforeTheLockIsFree() throws IOException, InterruptedException {
        try (RunningZkLock script =
                script("--grace 1 /hold/orphaned", "trap '' TERM; echo hold $!; while :; do sleep 0.1; done")) {
            RunningZkLock.signal("KILL", script.number("hold"));
            awaitFree("/hold/orphaned");
            assertThat(RunningZkLock.state(script.pid())).matches("|Z.*");
            assertThat(script.awaitExit()).isEqualTo(137);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NODE_DELETED", "SESSION_EXPIRED", "KEEPER_KILLED"})
    @Tag("H129")
    void loss_endsTheReaderBehindAnotherProcess(HoldLoss loss) throws IOException, InterruptedException {
        String path = "/hold/" + loss;
        String script = HoldForm.WITH_OR.script(path, folder.resolve("fifo").toString(), "--grace=1 --wait=240");
        try (RunningZkLock running = RunningZkLock.script(folder, server, script)) {
            running.number("script");
            List<ProcessHandle> started = running.children();
            loss.happen(server, path, running);
            assertThat(running.awaitExit()).as(running.err()).isIn(137, 143);
            started.forEach(each -> RunningZkLock.awaitGone(each.pid()));
        }
    }
}
