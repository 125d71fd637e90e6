// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.leader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

/** A leader whose server falls silent knows by the clock alone that it leads no more, before another one leads. */
class LeaderLossIT extends ServerStage {
    private static final int ROUNDS = Integer.getInteger("leader.losses", 2);
    private static final Duration SESSION = Duration.ofSeconds(2);
    private final List<Long> afterTheLast = new ArrayList<>(); // microseconds
    private final List<Long> afterTheLoss = new ArrayList<>();

    @Test
    void silentServer_endsTheTerm_beforeAnotherLeads(TestReporter reporter) throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            play("/losses/" + round);
        }
        reporter.publishEntry(
                "the next began after the last true answer of isLeader, microseconds", figures(afterTheLast));
        reporter.publishEntry("the next began after the loss was told, microseconds", figures(afterTheLoss));
        assertThat(afterTheLast).allSatisfy(margin -> assertThat(margin).isPositive());
    }

    private static String figures(List<Long> margins) {
        Collections.sort(margins);
        return "least " + margins.get(0) + ", median " + margins.get(margins.size() / 2) + " of " + margins.size();
    }

    private void play(String path) throws Exception {
        FaultProxy proxy = proxy();
        ZooKeeperClient through = client(proxy, SESSION);
        ZooKeeperClient direct = client(SESSION);
        LeaderElection old = new LeaderElection(through, path);
        LeaderElection next = new LeaderElection(direct, path);
        old.join();
        Term term = old.awaitLeadership(Duration.ofSeconds(120)).orElseThrow();
        CompletableFuture<Long> lostAt =
                term.ended().thenApply(how -> System.nanoTime()).toCompletableFuture();
        CompletableFuture<Boolean> besideTheOld = new CompletableFuture<>();
        CompletableFuture<Long> beganAt = new CompletableFuture<>();
        next.addListener(new LeaderListener() {
            @Override
            public void termBegan(Term begun) {
                besideTheOld.complete(old.isLeader());
                beganAt.complete(System.nanoTime());
            }

            @Override
            public void termEnded(Term over) {}
        });
        next.join();
        awaitNodes(path, 2);
        proxy.pause();
        long lastTrue = System.nanoTime();
        while (!beganAt.isDone()) {
            long asked = System.nanoTime();
            lastTrue = old.isLeader() ? asked : lastTrue;
            LockSupport.parkNanos(200_000);
        }
        assertThat(Soon.get(besideTheOld)).isFalse();
        afterTheLast.add((Soon.get(beganAt) - lastTrue) / 1000);
        afterTheLoss.add((Soon.get(beganAt) - Soon.get(lostAt)) / 1000);
        assertThat(term.state()).isEqualTo(LeaseState.LOST);
    }
}
