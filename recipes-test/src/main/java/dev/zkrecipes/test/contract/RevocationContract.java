// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.Revocation;
import dev.zkrecipes.core.RevocationOutcome;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.test.internal.Remains;
import dev.zkrecipes.test.internal.Soon;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Requests to release a lock. Each request is reported once to each hold that listens, whenever it was made, and it
 * breaks nothing.
 */
abstract class RevocationContract extends Stage {
    /** The number of requests that a node keeps. */
    private static final int STANDING = 8;

    private Revoker revoker;

    /**
     * Returns a long time-out: no test here waits for the end of a session, and a short session is easily lost on a
     * busy machine.
     */
    @Override
    Duration sessionTimeout() {
        return Contenders.WITHOUT_CHECKS;
    }

    @BeforeEach
    void makeRevoker() {
        revoker = new Revoker(contenders.rivals);
    }

    private static List<RevocationRequest> listen(Lease lease) {
        List<RevocationRequest> heard = new CopyOnWriteArrayList<>();
        lease.onRevocationRequested(heard::add);
        return heard;
    }

    private List<Participant> requests() throws InterruptedException {
        return scene.lock.participants().stream()
                .filter(participant -> participant.sessionId() == contenders.session())
                .toList();
    }

    private void assertNothingLeft() throws InterruptedException {
        scene.assertNothingLeft();
        await().untilAsserted(() -> assertThat(Remains.of(contenders.rivals)).isEmpty());
    }

    @Test
    @Tag("H60")
    void requestBeforeAnyListener_isReportedToEachLaterOne() throws InterruptedException {
        Lease lease = scene.lock.acquire();
        List<Revocation> asked = revoker.request(scene.lock);
        assertThat(asked)
                .extracting(Revocation::participant)
                .extracting(Participant::sessionId)
                .hasSize(recipe().queues().size())
                .containsOnly(contenders.session());
        List<RevocationRequest> heard = listen(lease);
        await().until(() -> !heard.isEmpty());
        List<RevocationRequest> later = listen(lease);
        await().until(() -> !later.isEmpty());
        assertThat(heard).isEqualTo(later).hasSize(1);
        assertThat(heard.get(0).requester()).isEqualTo(contenders.rivals.ownerLabel());
        assertThat(heard.get(0).grace()).isEmpty();
        Soon.await().until(lease::isValid);
        assertThat(asked).allMatch(revocation -> !revocation.outcome().isDone());
        lease.close();
        for (Revocation revocation : asked) {
            assertThat(Soon.get(revocation.outcome())).isEqualTo(RevocationOutcome.GIVEN_BACK);
        }
        assertNothingLeft();
    }

    @Test
    @Tag("H60")
    void requestToAWaiter_isReportedWhenItHolds() throws InterruptedException {
        Lease held = scene.rival.acquire();
        CompletableFuture<Lease> wanted = scene.lock.acquireAsync();
        scene.awaitWaiting();
        for (Participant waiter : requests()) {
            revoker.request(waiter);
        }
        held.close();
        Lease lease = Soon.get(wanted);
        List<RevocationRequest> heard = listen(lease);
        await().until(() -> heard.size() == recipe().queues().size()); // each node had its own request
        Soon.get(lease.closeAsync());
        assertNothingLeft();
    }

    @Test
    @Tag("H60")
    void everyRequest_isReportedOnce() throws InterruptedException {
        Lease lease = scene.lock.acquire();
        List<RevocationRequest> heard = listen(lease);
        for (int requests = 1; requests <= STANDING + 2; requests++) {
            int count = requests;
            revoker.request(scene.lock);
            await().until(() -> heard.size() >= count);
            assertThat(heard).hasSize(count);
        }
        assertThat(heard).extracting(RevocationRequest::id).doesNotHaveDuplicates();
        for (String node : scene.nodes()) {
            assertThat(text(node).lines().filter(line -> line.startsWith("revoke=")))
                    .hasSize(STANDING);
        }
        lease.close();
        assertNothingLeft();
    }

    private String text(String node) {
        return new String(server.data(node).orElseThrow(), StandardCharsets.UTF_8);
    }

    @Test
    @Tag("H60")
    void concurrentRequests_areAllReported_andKeepTheOwner() throws InterruptedException {
        Lease lease = scene.lock.acquire();
        List<RevocationRequest> heard = listen(lease);
        List<Participant> before = requests();
        int threads = 4;
        for (int thread = 0; thread < threads; thread++) {
            Revoker own = new Revoker(thread % 2 == 0 ? contenders.rivals : contenders.client);
            workers.start("revoker-" + thread, () -> {
                for (int i = 0; i < STANDING / threads; i++) {
                    own.request(scene.lock);
                }
            });
        }
        workers.join(Duration.ofSeconds(20));
        await().until(() -> heard.size() >= STANDING);
        assertThat(heard).hasSize(STANDING).doesNotHaveDuplicates();
        assertThat(requests()).extracting(Participant::node).isEqualTo(nodes(before));
        assertThat(requests()).extracting(Participant::owner).containsOnly(contenders.client.ownerLabel());
        lease.close();
        assertNothingLeft();
    }

    private static List<String> nodes(List<Participant> participants) {
        return participants.stream().map(Participant::node).toList();
    }

    @Test
    @Tag("H60")
    void endedHolds_disarmNoOther() throws InterruptedException {
        Lease lease = scene.lock.acquire();
        List<RevocationRequest> heard = listen(lease);
        revoker.request(scene.lock); // from now on each waiter has its own node, even with local hand-overs
        await().until(() -> heard.size() == 1);
        if (recipe().ownership() == Ownership.REENTRANT_THREAD) {
            Lease again = scene.lock.acquire();
            List<RevocationRequest> heardAgain = listen(again);
            await().until(() -> heardAgain.size() == 1);
            again.close();
            assertThat(heardAgain).hasSize(1);
        }
        // This request belongs to the same client, so that it waits behind the same watch, or holds beside the first.
        CompletableFuture<Lease> other = scene.lock.acquireAsync();
        await().until(() -> scene.nodes().size() == 2 * recipe().queues().size());
        if (!other.cancel(true)) {
            listen(other.join());
            Soon.get(other.join().closeAsync());
        }
        await().until(() -> scene.nodes().size() == recipe().queues().size());
        int before = heard.size();
        revoker.request(scene.lock);
        await().until(() -> heard.size() > before);
        assertThat(heard).hasSize(before + 1);
        lease.close();
        assertNothingLeft();
    }

    @Test
    void obedientHolder_releases() throws InterruptedException {
        Lease lease = Soon.get(scene.lock.acquireAsync());
        List<RevocationRequest> heard = listen(lease);
        lease.onRevocationRequested(request -> lease.close());
        CompletableFuture<Lease> wanted = scene.rival.acquireAsync();
        Duration grace = Duration.ofMinutes(1);
        List<Revocation> asked = revoker.withGrace(grace).request(scene.lock);
        assertThat(asked).hasSize(recipe().queues().size());
        // A holder of several nodes releases all of them when it hears of the first request, which may be before the
        // other nodes are marked.
        assertThat(asked.stream().map(revocation -> Soon.get(revocation.outcome())))
                .contains(RevocationOutcome.GIVEN_BACK)
                .doesNotContain(RevocationOutcome.BROKEN);
        Soon.get(Soon.get(wanted).closeAsync());
        assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(heard).extracting(RevocationRequest::grace).allMatch(Optional.of(grace)::equals);
        assertNothingLeft();
    }

    @Test
    void disobedientHolder_isBrokenAfterTheGrace() throws InterruptedException {
        Lease lease = scene.lock.acquire();
        List<RevocationRequest> heard = listen(lease);
        CompletableFuture<Lease> wanted = scene.rival.acquireAsync();
        Duration grace = Duration.ofMillis(200);
        long start = System.nanoTime();
        List<Revocation> asked = revoker.withGrace(grace).request(scene.lock);
        assertThat(asked).hasSize(recipe().queues().size());
        List<RevocationOutcome> outcomes =
                asked.stream().map(revocation -> Soon.get(revocation.outcome())).toList();
        // If there are several nodes, the first one is deleted. The holder may learn of that and release the others
        // before they are deleted.
        assertThat(outcomes).contains(RevocationOutcome.BROKEN);
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(grace.toNanos());
        assertThat(heard).hasSizeLessThanOrEqualTo(1); // the hold may be broken before its listener is notified
        Lease next = Soon.get(wanted);
        assertThat(Soon.get(lease.ended())).isEqualTo(LeaseState.LOST);
        Soon.await().until(next::isValid); // the deletion has affected no other node
        lease.close();
        Soon.get(next.closeAsync());
        assertNothingLeft();
    }

    @Test
    void endedLease_isNotNotified() throws InterruptedException {
        Lease lease = scene.lock.acquire();
        revoker.request(scene.lock);
        Participant holder = requests().get(0);
        lease.close();
        List<RevocationRequest> heard = listen(lease);
        assertThat(revoker.request(scene.lock)).isEmpty();
        Revocation late = revoker.withGrace(Duration.ZERO).request(holder);
        assertThat(late.await(Duration.ZERO)).isEqualTo(Optional.of(RevocationOutcome.GONE_ALREADY));
        assertNothingLeft();
        assertThat(heard).isEmpty();
    }
}
