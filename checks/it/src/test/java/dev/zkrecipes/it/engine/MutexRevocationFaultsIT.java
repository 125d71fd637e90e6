// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.Revocation;
import dev.zkrecipes.core.RevocationOutcome;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.internal.Lateness;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Requests to give a lock back while the holder or the requester is in trouble. */
class MutexRevocationFaultsIT extends RevocationStage {

    // ---- The holder is in trouble.

    @Test
    @Tag("H60")
    void requestOrListenerDuringACutOff_isReportedAfterwards() throws Exception {
        Lease lease = mutex.acquire();
        Participant holder = holder();
        List<RevocationRequest> heard = listen(lease);
        await().until(() -> server.watchCount() == 1);
        InterProcessMutex another = new InterProcessMutex(holding, path + "-another");
        Lease asked = another.acquire();
        revoker.request(another);
        proxy.refuse();
        await().until(() -> holding.connectionState() == ConnectionState.SUSPENDED);
        revoker.request(holder);
        List<RevocationRequest> heardLater = listen(lease);
        List<RevocationRequest> heardOfAnother = listen(asked);
        proxy.accept();
        await().until(() -> heard.size() == 1 && heardLater.size() == 1 && heardOfAnother.size() == 1);
        await().until(lease::isValid);
        asked.close();
        lease.close();
    }

    @Test
    void brokenListeningHolder_learnsAtOnce() throws Exception {
        Lease lease = mutex.acquire();
        listen(lease);
        Revocation revocation = revoker.withGrace(Duration.ZERO).request(holder());
        assertThat(revocation.await(Duration.ofSeconds(20))).hasValue(RevocationOutcome.BROKEN);
        assertThat(Soon.get(lease.ended())).isEqualTo(LeaseState.LOST);
        assertThatThrownBy(mutex::release)
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining("deleted by somebody else");
    }

    @Test
    @Tag("H11")
    void brokenSilentHolder_learnsByTheCheck() throws Exception {
        try (ZooKeeperClient client = connect(server.connectString(), Duration.ofSeconds(3))) {
            InterProcessMutex checked = new InterProcessMutex(client, path);
            Lease lease = checked.acquire();
            List<Revocation> asked = revoker.withGrace(Duration.ofMillis(1)).request(checked);
            assertThat(Soon.get(asked.get(0).outcome())).isEqualTo(RevocationOutcome.BROKEN);
            Lease next = mutex.acquire();
            await().until(() -> lease.state() == LeaseState.LOST);
            lease.close();
            Soon.await().until(next::isValid);
            next.close();
        }
    }

    // ---- The requester is in trouble.

    @Test
    void lostReplyToTheMark_marksOnce() throws Exception {
        Lease lease = new InterProcessMutex(asking, path).acquire();
        List<RevocationRequest> heard = listen(lease);
        proxy.dropReply(RequestType.MULTI, 1);
        List<Revocation> asked = new Revoker(holding).request(mutex);
        assertThat(data(node()).lines().filter(line -> line.startsWith("revoke=")))
                .hasSize(1);
        await().until(() -> heard.size() == 1);
        lease.close();
        assertThat(Soon.get(asked.get(0).outcome())).isEqualTo(RevocationOutcome.GIVEN_BACK);
        assertThat(heard).hasSize(1);
    }

    @Test
    void lostReplyToTheDeletion_isBroken() throws Exception {
        Lease lease = new InterProcessMutex(asking, path).acquire();
        proxy.dropReply(RequestType.MULTI, 2); // behind the mark
        List<Revocation> asked =
                new Revoker(holding).withGrace(Duration.ofMillis(50)).request(mutex);
        assertThat(Soon.get(asked.get(0).outcome())).isEqualTo(RevocationOutcome.BROKEN);
        assertThat(server.children(path)).isEmpty();
        lease.close();
    }

    @Test
    void lostDeletion_isSentAgain() throws Exception {
        Lease lease = new InterProcessMutex(asking, path).acquire();
        proxy.dropRequest(RequestType.MULTI, 2);
        List<Revocation> asked =
                new Revoker(holding).withGrace(Duration.ofMillis(50)).request(mutex);
        assertThat(Soon.get(asked.get(0).outcome())).isEqualTo(RevocationOutcome.BROKEN);
        assertThat(server.children(path)).isEmpty();
        lease.close();
    }

    @Test
    void requesterWithAnEndedSession_breaksInTheNext() throws Exception {
        Lease lease = new InterProcessMutex(asking, path).acquire();
        long session = holding.zooKeeper().orElseThrow().getSessionId();
        List<Revocation> asked =
                new Revoker(holding).withGrace(Duration.ofMillis(300)).request(mutex);
        assertThat(server.expireSession(session)).isTrue();
        assertThat(Soon.get(asked.get(0).outcome())).isEqualTo(RevocationOutcome.BROKEN);
        await().until(() -> holding.zooKeeper().orElseThrow().getSessionId() != session);
        lease.close();
    }

    @Test
    @Tag("H50")
    void requestWithoutAServer_endsInTime() throws Exception {
        Lease lease = new InterProcessMutex(asking, path).acquire();
        Participant holder = holder();
        try (ZooKeeperClient client = connected(ZooKeeperClient.builder()
                        .connectString(proxy.connectString())
                        .requestTimeout(Duration.ofMillis(300)));
                Lateness lateness = Lateness.measure()) {
            proxy.refuse();
            await().until(() -> client.connectionState() == ConnectionState.SUSPENDED);
            Duration late = lateness.soFar();
            long start = System.nanoTime();
            assertThatThrownBy(() -> new Revoker(client).request(holder))
                    .isInstanceOf(LockConnectionException.class)
                    .hasMessageContaining(path);
            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .isBetween(
                            Duration.ofMillis(300),
                            Duration.ofMillis(1000).plus(lateness.soFar()).minus(late));

            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> new Revoker(client).request(holder)).isInstanceOf(InterruptedException.class);
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
        }
        assertThat(data(node())).doesNotContain("revoke=");
        lease.close();
    }

    @Test
    @Tag("H20")
    void closingTheClient_endsItsRevocations() throws Exception {
        Lease lease = new InterProcessMutex(asking, path).acquire();
        Participant holder = holder();
        Revoker own = new Revoker(holding);
        Revocation revocation = own.withGrace(LONG).request(holder);
        holding.close();
        assertThat(revocation.outcome())
                .failsWithin(Duration.ofSeconds(120))
                .withThrowableThat()
                .withCauseInstanceOf(ClientClosedException.class);
        assertThatThrownBy(() -> own.request(holder)).isInstanceOf(ClientClosedException.class);
        lease.verify();
        lease.close();
    }
}
