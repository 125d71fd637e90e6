// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.IncompatibleNodeException;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.leader.LeaderElection;
import dev.zkrecipes.leader.LeaderListener;
import dev.zkrecipes.leader.Term;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** P14 for leaders: processes with Curator's {@code LeaderLatch} and processes with this library stand in one queue. */
@Tag("H65")
class LeaderNeighboursIT extends ServerStage {
    private static final Duration LONG = Duration.ofSeconds(120);
    private final List<LeaderLatch> latches = new ArrayList<>();
    private ZooKeeperClient client;
    private CuratorFramework curator;

    @BeforeEach
    void open() throws InterruptedException {
        client = client();
        curator = opened(Curators.connect(server));
    }

    /** Stands, and is in the queue. */
    private LeaderElection ours() {
        int before = nodes();
        LeaderElection election = new LeaderElection(client, path);
        election.join();
        await().until(() -> nodes() == before + 1);
        return election;
    }

    private LeaderLatch theirs() throws Exception {
        int before = nodes();
        LeaderLatch latch = new LeaderLatch(curator, path, "latch " + latches.size());
        latches.add(latch);
        latch.start();
        await().until(() -> nodes() == before + 1);
        return latch;
    }

    private int nodes() {
        return server.nodeExists(path) ? server.children(path).size() : 0;
    }

    private static void leads(LeaderElection election) throws InterruptedException {
        assertThat(election.awaitLeadership(LONG)).isPresent();
    }

    private static void leads(LeaderLatch latch) {
        await().until(latch::hasLeadership);
    }

    /** Gives everybody the time in which one that does not wait would lead: two round trips each. */
    private void assertAloneAmong(Object leader, List<?> all) throws Exception {
        for (int i = 0; i < 2; i++) {
            client.zooKeeper().orElseThrow().exists("/", false);
            curator.checkExists().forPath("/");
        }
        assertThat(all.stream()
                        .filter(each -> each instanceof LeaderLatch latch
                                ? latch.hasLeadership()
                                : ((LeaderElection) each).isLeader()))
                .isEqualTo(List.of(leader));
    }

    @Test
    void bothKinds_leadInTheOrderOfOneQueue() throws Exception {
        LeaderElection first = ours();
        LeaderLatch second = theirs();
        LeaderElection third = ours();
        LeaderLatch fourth = theirs();
        List<Object> all = List.of(first, second, third, fourth);
        leads(first);
        assertAloneAmong(first, all);
        var unused = first.leave();
        leads(second);
        assertAloneAmong(second, all);
        second.close();
        leads(third);
        assertAloneAmong(third, all);
        third.resign().join(); // and stands again, at the end
        leads(fourth);
        assertAloneAmong(fourth, all);
        fourth.close();
        leads(third);
        assertAloneAmong(third, List.of(first, third));
    }

    @Test
    void eachSeesTheOther() throws Exception {
        LeaderLatch latch = theirs();
        LeaderElection election = ours();
        leads(latch);
        assertThat(election.leader().map(Participant::owner)).contains("latch 0");
        assertThat(election.participants())
                .extracting(Participant::owner)
                .containsExactly("latch 0", client.ownerLabel());
        assertThat(latch.getLeader().getId()).isEqualTo("latch 0");
        assertThat(latch.getParticipants()).hasSize(2);
        latch.close();
        leads(election);
        LeaderLatch next = theirs();
        assertThat(next.getLeader().getId()).contains(client.ownerLabel());
        assertThat(next.hasLeadership()).isFalse();
    }

    @Test
    void endOfASession_passesTheLeadershipOn_bothWays() throws Exception {
        LeaderElection election = ours();
        LeaderLatch latch = theirs();
        leads(election);
        expire(client);
        leads(latch);
        await().until(() -> !election.isLeader() && nodes() == 2);
        server.expireSession(CuratorHandle.of(curator).getSessionId());
        leads(election);
    }

    // ---- Curator's LeaderSelector, which is a mutex.

    /** Leads until it is closed, whenever it is elected. */
    private LeaderSelector selector() {
        LeaderSelector selector = new LeaderSelector(curator, path, new LeaderSelectorListenerAdapter() {
            @Override
            public void takeLeadership(CuratorFramework leading) throws Exception {
                new CountDownLatch(1).await(); // interrupted at the end
            }
        });
        selector.start();
        return selector;
    }

    @Test
    @Tag("H146")
    void selector_leadsBesideOurLeader() throws Exception {
        LeaderElection election = ours();
        leads(election);
        try (LeaderSelector selector = selector()) {
            await().until(selector::hasLeadership);
            await().until(election::isLeader);
            assertThatThrownBy(election::participants).isInstanceOf(IncompatibleNodeException.class);
        }
    }

    @Test
    @Tag("H146")
    void candidateThatSeesASelector_isRefused() throws Exception {
        LeaderElection leading = ours();
        leads(leading);
        LeaderElection later = new LeaderElection(client, path);
        try (LeaderSelector selector = selector()) {
            await().until(selector::hasLeadership);
            later.join();
            assertThatThrownBy(() -> later.awaitLeadership(LONG)).isInstanceOf(IncompatibleNodeException.class);
            leading.resign().join(); // and stands again
            assertThatThrownBy(() -> leading.awaitLeadership(LONG)).isInstanceOf(IncompatibleNodeException.class);
        }
    }

    /** So the work of an election on a new path may lead under our mutex on the old one while selectors are left there. */
    @Test
    @Tag("H146")
    void selector_andOurMutex_takeTurns() throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        Lease first = mutex.acquireAsync().get();
        try (LeaderSelector selector = selector()) {
            await().until(() -> nodes() == 2);
            CompletableFuture<Lease> second = mutex.acquireAsync();
            await().until(() -> nodes() == 3);
            assertThat(selector.hasLeadership()).isFalse();
            first.closeAsync().get();
            await().until(selector::hasLeadership);
            assertThat(mutex.participants()).hasSize(2);
            assertThat(second).isNotDone();
            selector.interruptLeadership();
            Soon.await().until(Soon.get(second)::isValid);
            assertThat(selector.hasLeadership()).isFalse();
        }
    }

    /** So no request to give the leadership back is to be made on a path that latches share. */
    @Test
    void latch_losesItsWatch_whenTheNodeInFrontIsChanged() throws Exception {
        LeaderElection election = ours();
        theirs();
        leads(election);
        String node = path + "/"
                + server.children(path).stream()
                        .filter(name -> !name.startsWith("_c_"))
                        .findFirst()
                        .orElseThrow();
        await().until(() -> server.watchers(node).size() == 1);
        server.setData(node, new byte[0]);
        assertAloneAmong(election, List.of(election));
        assertThat(server.watchers(node)).isEmpty();
    }

    /** Six candidates in six sessions; each leads for a moment and queues again. */
    @Test
    void candidatesOfBothKinds_neverLeadTogether() throws Exception {
        Queue<String> wrong = new ConcurrentLinkedQueue<>();
        List<LeaderElection> elections = new ArrayList<>();
        List<CuratorFramework> frameworks = new ArrayList<>();
        List<LeaderLatch> theirs = new CopyOnWriteArrayList<>();
        Queue<Long> numbers = new ConcurrentLinkedQueue<>();
        try (TestClients clients = TestClients.of(server)) {
            for (int i = 0; i < 3; i++) {
                LeaderElection election = new LeaderElection(clients.open(), path);
                elections.add(election);
                election.addListener(new LeaderListener() {
                    @Override
                    public void termBegan(Term term) {
                        if (theirs.stream().anyMatch(LeaderLatch::hasLeadership) && term.isValid()) {
                            wrong.add(term + " beside a latch");
                        }
                        numbers.add(term.number());
                        var unused = election.resign();
                    }

                    @Override
                    public void termEnded(Term term) {}
                });
                frameworks.add(Curators.connect(server));
            }
            elections.forEach(LeaderElection::join);
            for (int i = 0; i < 30; i++) {
                LeaderLatch latch = new LeaderLatch(frameworks.get(i % 3), path, "latch");
                theirs.add(latch);
                latch.start();
                await().until(latch::hasLeadership);
                if (elections.stream().anyMatch(LeaderElection::isLeader) && latch.hasLeadership()) {
                    wrong.add("an election beside latch " + i);
                }
                theirs.remove(latch); // which deletes its node before it knows that it does not lead
                latch.close();
            }
            for (LeaderElection election : elections) {
                Soon.get(election.leave());
            }
            await().until(() -> nodes() == 0);
        } finally {
            frameworks.forEach(CuratorFramework::close);
        }
        assertThat(wrong).isEmpty();
        assertThat(List.copyOf(numbers)).hasSizeGreaterThan(30).isSorted();
    }
}
