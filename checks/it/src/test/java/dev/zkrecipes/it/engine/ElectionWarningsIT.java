// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.IncompatibleNodeException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.leader.LeaderElection;
import dev.zkrecipes.leader.LeaderListener;
import dev.zkrecipes.leader.Term;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What elections log: a leader that does not stop when it is closed, and a node that Curator's selector would make. */
@Tag("alone")
class ElectionWarningsIT extends ServerStage {
    private static final Duration LONG = Duration.ofSeconds(120);
    private final CountDownLatch stopping = new CountDownLatch(1);
    private final CountDownLatch stop = new CountDownLatch(1);
    private ZooKeeperClient client;
    private LeaderElection election;

    @BeforeEach
    void open() throws InterruptedException {
        open(Duration.ofMillis(50));
    }

    private void open(Duration closeTimeout) throws InterruptedException {
        client = TestClients.connect(settings().closeTimeout(closeTimeout));
        election = new LeaderElection(client, path);
    }

    @AfterEach
    void close() {
        stop.countDown();
        client.close();
    }

    private void untilItMayStop() {
        boolean hasStopped = false;
        while (!hasStopped) {
            try {
                stop.await();
                hasStopped = true;
            } catch (InterruptedException e) {
                // It does not heed that.
            }
        }
    }

    private void leadByListener() throws InterruptedException {
        election.addListener(new LeaderListener() {
            @Override
            public void termBegan(Term term) {}

            @Override
            public void termEnded(Term term) {
                stopping.countDown();
                untilItMayStop();
            }
        });
        election.join();
        assertThat(election.awaitLeadership(LONG)).isPresent();
    }

    private CompletableFuture<Void> leadByWork() throws InterruptedException {
        CountDownLatch works = new CountDownLatch(1);
        CompletableFuture<Void> ran = new CompletableFuture<>();
        new Thread(() -> {
                    try {
                        election.runOnce(term -> {
                            works.countDown();
                            untilItMayStop();
                        });
                        ran.complete(null);
                    } catch (InterruptedException | RuntimeException e) {
                        ran.completeExceptionally(e);
                    }
                })
                .start();
        works.await();
        return ran;
    }

    /** The lines about the election. */
    private List<String> printedWhile(Runnable action) {
        PrintStream terminal = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            action.run();
        } finally {
            System.setErr(terminal);
        }
        return printed.toString(StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.contains(path))
                .toList();
    }

    @Test
    @Tag("H153")
    void closedElection_namesTheListenerThatStillRuns() throws Exception {
        leadByListener();
        var unused = election.leave();
        stopping.await(); // a listener that has not been called yet would not be named
        assertThat(printedWhile(election::close))
                .singleElement()
                .satisfies(line -> assertThat(line).contains("WARN", "a listener on the thread", "closeTimeout"));
    }

    @Test
    @Tag("H153")
    void closedElection_namesTheWorkThatStillRuns() throws Exception {
        CompletableFuture<Void> ran = leadByWork();
        assertThat(printedWhile(election::close))
                .singleElement()
                .satisfies(line -> assertThat(line).contains("WARN", "its work", "closeTimeout"));
        stop.countDown();
        Soon.get(ran);
    }

    @Test
    @Tag("H153")
    void closedClient_namesTheElectionThatHasNotEnded() throws Exception {
        leadByListener();
        assertThat(printedWhile(client::close))
                .singleElement()
                .satisfies(line -> assertThat(line).contains("WARN", "closeTimeout"));
    }

    @Test
    void electionThatEndsInTime_logsNothing() throws Exception {
        client.close();
        open(LONG);
        stop.countDown();
        leadByListener();
        assertThat(printedWhile(() -> {
                    election.close();
                    client.close();
                }))
                .isEmpty();
    }

    @Test
    @Tag("H146")
    void nodeOfASelector_isNamedAsWhatLeadsBeside() throws Exception {
        server.createNode(path, new byte[0]);
        client.zooKeeper()
                .orElseThrow()
                .create(path + "/lock-", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL);
        assertThat(printedWhile(() -> {
                    election.join();
                    assertThatThrownBy(() -> election.awaitLeadership(LONG))
                            .isInstanceOf(IncompatibleNodeException.class);
                }))
                .singleElement()
                .satisfies(line -> assertThat(line).contains("WARN", "lock-", "LeaderSelector", "leads beside"));
    }
}
