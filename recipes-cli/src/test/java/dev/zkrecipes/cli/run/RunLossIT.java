// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code zklock run} as it is shipped, launcher and JVM: when the lock is lost, and when one of the two is killed. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@WithZooKeeper
class RunLossIT {
    /** Says who it is, and ends when it is told to. */
    private static final String OBEDIENT =
            LauncherTest.OBEDIENT.replace("echo pid", "echo session $(($ZKLOCK_SESSION)); echo pid");

    @TempDir
    private Path folder;

    private final EmbeddedZooKeeper server;

    RunLossIT(EmbeddedZooKeeper server) {
        this.server = server;
    }

    private RunningZkLock run(String... arguments) throws IOException, InterruptedException {
        return RunningZkLock.start(folder, server, arguments);
    }

    @Test
    void expiredSession_endsTheCommandAndIsToldAs76() throws IOException, InterruptedException {
        try (RunningZkLock zklock = run("run", "/loss", "sh", "-c", OBEDIENT)) {
            assertThat(server.expireSession(zklock.number("session"))).isTrue();
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(76);
            assertThat(zklock.out()).contains("told");
            assertThat(zklock.err()).contains("the lock /loss is lost (").contains("; the command is being ended");
            RunningZkLock.awaitGone(zklock.number("pid"));
        }
    }

    @Test
    void lossWhileTheLauncherIsStopped_endsTheCommandAllTheSame() throws IOException, InterruptedException {
        try (RunningZkLock zklock = run("run", "/loss", "sh", "-c", OBEDIENT)) {
            long session = zklock.number("session");
            long pid = zklock.number("pid");
            zklock.signal("STOP");
            assertThat(server.expireSession(session)).isTrue();
            await().atMost(RunningZkLock.LIMIT)
                    .until(() -> RunningZkLock.state(pid).startsWith("Z"));
            assertThat(zklock.isAlive()).isTrue();
            zklock.signal("CONT");
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(76);
            assertThat(zklock.out()).contains("told");
        }
    }

    @Test
    void killedZkLock_takesItsCommandWithIt() throws IOException, InterruptedException {
        String deaf = "sh -c 'trap \"\" TERM; echo deaf $$; while :; do sleep 0.1; done' & ";
        try (RunningZkLock zklock = run("run", "--grace", "5", "/killed", "sh", "-c", deaf + OBEDIENT)) {
            long pid = zklock.number("pid");
            long deafOne = zklock.number("deaf");
            zklock.signal("KILL");
            assertThat(zklock.awaitExit()).isEqualTo(137);
            RunningZkLock.awaitGone(pid);
            RunningZkLock.awaitGone(deafOne);
            assertThat(zklock.out()).contains("told");
        }
    }

    @Test
    void killedZkLock_leavesTheCommandRunningIfLossIsIgnored() throws IOException, InterruptedException {
        Path go = folder.resolve("go");
        String command = "echo pid $$; until [ -e '" + go + "' ]; do sleep 0.1; done; echo done";
        try (RunningZkLock zklock = run("run", "--on-lost=ignore", "/ignored", "sh", "-c", command)) {
            long pid = zklock.number("pid");
            zklock.signal("KILL");
            assertThat(zklock.awaitExit()).isEqualTo(137);
            assertThat(ProcessHandle.of(pid)).isPresent();
            Files.createFile(go);
            RunningZkLock.awaitGone(pid);
            assertThat(zklock.out()).contains("done");
        }
    }

    /** As when all processes of a service get TERM. The command may have reasons to continue. */
    @Test
    void signalToTheKeeper_doesNotEndTheLockBeforeTheCommand() throws IOException, InterruptedException {
        try (RunningZkLock zklock = run("run", "/kept", "sh", "-c", "echo pid $$; read -r line; exit 6")) {
            zklock.number("pid");
            long keeper = zklock.keeper().pid();
            for (String name : List.of("TERM", "HUP", "INT", "QUIT", "USR1", "USR2")) {
                RunningZkLock.signal(name, keeper);
            }
            assertThat(server.children("/kept")).hasSize(1);
            zklock.in().close();
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(6);
        }
    }
}
