// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.leader.LeaderElection;
import dev.zkrecipes.test.EnsembleServer;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.ZooKeeperEnsemble;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Three servers are restarted in turn, twice, as an upgrade does it. Of three candidates, the leader keeps its one term. */
@Tag("soak")
@Tag("H148")
@Timeout(600)
class RollingRestartIT {
    private static final Duration SESSION = Duration.ofSeconds(60);
    private static final int CANDIDATES = 3;
    private static final int ROUNDS = 2;

    private final Queue<Long> terms = new ConcurrentLinkedQueue<>();
    private final AtomicLong steps = new AtomicLong();

    @Test
    void serversRestartedInTurn_beginNoNewTerm() throws Exception {
        List<ZooKeeperClient> clients = new ArrayList<>();
        try (ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.start(List.of("maxSessionTimeout=" + SESSION.toMillis()))) {
            for (int i = 0; i < CANDIDATES; i++) {
                clients.add(TestClients.connect(ensemble.connectString(), SESSION));
                LeaderElection election = new LeaderElection(clients.get(i), "/leaders/rolling");
                new Thread(() -> lead(election)).start();
            }
            awaitSteps();
            for (int round = 0; round < ROUNDS; round++) {
                for (EnsembleServer server : ensemble.servers()) {
                    server.kill();
                    server.restart();
                    ensemble.awaitComplete();
                    awaitSteps();
                }
            }
            assertThat(terms).hasSize(1);
        } finally {
            clients.forEach(ZooKeeperClient::close);
        }
    }

    /** The loop of the page. */
    private void lead(LeaderElection election) {
        try {
            election.run(term -> {
                terms.add(term.number());
                while (term.awaitValid(SESSION)) {
                    steps.incrementAndGet();
                    LockSupport.parkNanos(1_000_000);
                }
            });
        } catch (InterruptedException | RuntimeException e) {
            // The client is closed.
        }
    }

    private void awaitSteps() {
        long before = steps.get();
        Awaitility.await().atMost(SESSION).until(() -> steps.get() > before + 10);
    }
}
