// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.Ran;
import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** {@code zklock lead} as it is shipped, launcher and JVM: a command in each term. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@WithZooKeeper
@Execution(ExecutionMode.CONCURRENT)
class LeadIT {
    /** Leads until it is told to end, or there is a file of the name {@code $1}. */
    private static final String LEADS = "trap 'echo told; exit 3' TERM; echo term $ZKLOCK_FENCE; echo pid $$;"
            + " until [ -e \"$1\" ]; do sleep 0.1; done; exit 5";

    private static final String NO_PAUSE = "--pause=0";

    @TempDir
    private Path folder;

    private final EmbeddedZooKeeper server;
    private final String path = "/lead-" + UUID.randomUUID();

    LeadIT(EmbeddedZooKeeper server) {
        this.server = server;
    }

    private RunningZkLock lead(String option, String command) throws IOException, InterruptedException {
        return RunningZkLock.start(
                folder, server, "lead", option, path, "bash", "-c", command, "bash", enough().toString());
    }

    private Path enough() {
        return folder.resolve("enough");
    }

    private static List<Long> terms(RunningZkLock zklock) throws IOException {
        return zklock.out()
                .lines()
                .filter(line -> line.matches("term [0-9]+"))
                .map(line -> Long.valueOf(line.substring("term ".length())))
                .toList();
    }

    /** Of which each has a greater number than the one before. */
    private static void awaitTerms(RunningZkLock zklock, int count) {
        await().atMost(RunningZkLock.LIMIT)
                .untilAsserted(() -> assertThat(terms(zklock))
                        .as(zklock.err())
                        .hasSize(count)
                        .isSorted()
                        .doesNotHaveDuplicates());
    }

    private void awaitNodes(int count) {
        RunningZkLock.awaitNodes(server, path, count);
    }

    /** As the server orders them. */
    private String leader() {
        return path + "/"
                + server.children(path).stream()
                        .min((a, b) -> a.substring(a.length() - 10).compareTo(b.substring(b.length() - 10)))
                        .orElseThrow();
    }

    @Test
    void commandRunsInEachTerm_inOneQueueWithCuratorsLatch() throws Exception {
        try (CuratorFramework curator =
                CuratorFrameworkFactory.newClient(server.connectString(), new RetryOneTime(100))) {
            LeaderLatch first = new LeaderLatch(curator, path, "first");
            LeaderLatch second = new LeaderLatch(curator, path, "second");
            curator.start();
            first.start();
            await().atMost(RunningZkLock.LIMIT).until(first::hasLeadership);
            try (RunningZkLock zklock = lead(NO_PAUSE, LEADS)) {
                awaitNodes(2);
                assertThat(terms(zklock)).isEmpty();
                first.close();
                awaitTerms(zklock, 1);
                second.start();
                awaitNodes(2);
                assertThat(Ran.zklock("ls", "--connect", server.connectString(), path)
                                .lines())
                        .satisfies(lines ->
                                assertThat(lines.get(0)).isEqualTo(path + ": leader election, 1 leads, 1 stands"))
                        .satisfies(lines -> assertThat(lines.get(2)).contains(" leads   leadership "))
                        .satisfies(lines -> assertThat(lines.get(3)).contains(" stands  leadership ", " second "));
                Files.createFile(enough()); // the command ends, and the leadership is given back
                await().atMost(RunningZkLock.LIMIT).until(second::hasLeadership);
                Files.delete(enough());
                awaitNodes(2);
                assertThat(terms(zklock)).hasSize(1);
                second.close();
                awaitTerms(zklock, 2);
                zklock.signal("TERM");
                assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(3);
                awaitNodes(0);
            }
        }
    }

    @Test
    void lostLeadership_endsTheCommand_andAnotherTermFollows() throws IOException, InterruptedException {
        try (RunningZkLock zklock = lead(NO_PAUSE, LEADS)) {
            awaitTerms(zklock, 1);
            server.deleteNode(leader());
            awaitTerms(zklock, 2);
            assertThat(zklock.out()).contains("told");
            assertThat(zklock.err())
                    .contains("is lost (its node was deleted by somebody else); the command is being ended");
            server.expireSession(server.owner(leader()).orElseThrow());
            awaitTerms(zklock, 3);
            zklock.signal("TERM");
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(3);
        }
    }

    /** The command takes its time; zklock, which is to end with it, waits. */
    @Test
    @Tag("H153")
    void signalledLeader_isFollowedByTheNext_whenItsCommandHasEnded() throws IOException, InterruptedException {
        String stops = "echo told; until [ -e \"$1\" ]; do sleep 0.1; done; touch \"$1.ended\"; exit 3";
        String slow = "trap '" + stops + "' TERM; echo term $ZKLOCK_FENCE; while :; do sleep 0.1; done";
        try (RunningZkLock one = lead(NO_PAUSE, slow)) {
            awaitTerms(one, 1);
            try (PlayedLauncher other =
                    PlayedLauncher.start(server, "lead", path, "x").go()) {
                awaitNodes(2);
                one.signal("TERM");
                one.awaitOut("told");
                assertThat(Ran.zklock("ls", "--connect", server.connectString(), path)
                                .out())
                        .contains("1 leads, 1 stands");
                Files.createFile(enough());
                other.await("+granted ");
                assertThat(folder.resolve("enough.ended")).exists();
                assertThat(one.awaitExit()).as(one.err()).isEqualTo(3);
                other.giveBack();
            }
        }
    }

    @Test
    @Tag("H153")
    void killedLeader_isFollowedByTheNext_whenItsCommandHasEnded() throws IOException, InterruptedException {
        try (RunningZkLock one = lead(NO_PAUSE, LEADS)) {
            awaitTerms(one, 1);
            long command = one.number("pid");
            try (PlayedLauncher other =
                    PlayedLauncher.start(server, "lead", path, "x").go()) {
                awaitNodes(2);
                one.signal("KILL");
                other.await("+granted ");
                assertThat(RunningZkLock.runs(command)).isFalse();
                assertThat(Long.valueOf(other.environment().get("ZKLOCK_FENCE")))
                        .isGreaterThan(terms(one).get(0));
                assertThat(one.out()).contains("told");
                other.giveBack();
            }
        }
    }
}
