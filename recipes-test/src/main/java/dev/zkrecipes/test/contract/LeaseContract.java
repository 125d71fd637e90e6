// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.MultiLease;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.internal.Lateness;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.NoNodeException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A lease knows its own state: while it is held for long, while there is no connection, and after its node has been
 * deleted. What it gives to a store, its token and its guard, protects the store.
 */
public abstract class LeaseContract extends Stage {
    private static final Duration ONE_SECOND = Duration.ofSeconds(1);
    private static final Duration SHORT = Duration.ofSeconds(3);
    /** A session that outlasts a reconnect, before which ZooKeeper's client may wait for a second. */
    private static final Duration LONG = Duration.ofSeconds(8);

    /** Creates the suite; the test of a recipe extends it. */
    protected LeaseContract() {}

    @Override
    Duration sessionTimeout() {
        return SHORT;
    }

    /**
     * The session is so long that only a pause of seconds can make a lease invalid. After such a pause, the test waits
     * until the lease is valid before it acquires the next one.
     */
    @Test
    @Tag("H152")
    void newLease_isValidAtOnce() throws InterruptedException {
        try (Contenders quiet = Contenders.openQuiet(server, recipe());
                Lateness lateness = Lateness.measure()) {
            Scene own = Scene.of(quiet);
            List<Integer> invalid = new ArrayList<>();
            for (int round = 1; round <= 20; round++) {
                try (Lease lease = own.lock.acquire()) {
                    if (!lease.isValid()) {
                        invalid.add(round);
                        await().atMost(Contenders.WITHOUT_CHECKS).until(lease::isValid);
                    }
                }
            }
            assertThat(invalid)
                    .as(
                            "of 20 new leases those that were not valid at once, in a JVM that came %s late",
                            lateness.soFar())
                    .hasSizeLessThanOrEqualTo(2);
        }
    }

    @Test
    @Tag("H07")
    void holderCutOffSilently_saysInvalidBeforeARivalIsGranted() throws InterruptedException {
        Lease held = lock.acquire();
        AtomicInteger losses = new AtomicInteger();
        held.onLost(losses::incrementAndGet);
        CompletableFuture<Boolean> validAtTheGrant = scene.rival.acquireAsync().thenCompose(lease -> {
            boolean valid = held.isValid();
            return lease.closeAsync().thenApply(closed -> valid);
        });
        assertStaysHeldPastTheSessionTimeout(held);

        contenders.proxy.pause();
        await().until(() -> !held.isValid());
        assertThat(Soon.get(validAtTheGrant))
                .as("isValid() as the rival is granted")
                .isFalse();
        assertThat(held.isValid()).as("isValid() beside the rival").isFalse();
        await().until(() -> held.state() == LeaseState.LOST && losses.get() == 1);

        contenders.proxy.resume();
        held.close();
        contenders.awaitConnected();
        scene.assertPathIsFree();
        assertThat(losses).hasValue(1);
    }

    /** Checks that the lease stays held. On a slow machine it may rightly be suspended, but it must not be lost. */
    private static void assertStaysHeldPastTheSessionTimeout(Lease held) {
        long end = System.nanoTime() + SHORT.plusMillis(200).toNanos();
        try (Lateness lateness = Lateness.measure()) {
            await().pollInterval(20, TimeUnit.MILLISECONDS).until(() -> {
                assertThat(held.state())
                        .isIn(LeaseState.HELD, isLate(lateness) ? LeaseState.SUSPENDED : LeaseState.HELD);
                return System.nanoTime() - end > 0;
            });
        }
        await().until(() -> held.state() == LeaseState.HELD);
    }

    /** Whether the process may have been paused for so long that the lease is rightly not proven to be held. */
    private static boolean isLate(Lateness lateness) {
        return lateness.soFar().compareTo(SHORT.dividedBy(12)) > 0;
    }

    @Test
    @Tag("H07")
    void disconnect_suspendsTheLeaseUntilACommittedCheck() throws InterruptedException {
        try (Contenders own = Contenders.open(server, recipe(), LONG)) {
            Scene lasting = Scene.of(own);
            Lease held = lasting.lock.acquire();
            await().until(held::isValid);
            own.proxy.refuse();
            await().until(() -> held.state() == LeaseState.SUSPENDED);
            assertThat(held.isValid()).as("isValid() while SUSPENDED").isFalse();
            long checks = server.requests().of(RequestType.MULTI);
            own.proxy.accept();
            await().until(held::isValid);
            assertThat(server.requests().of(RequestType.MULTI)).isGreaterThan(checks);
            held.verify();
            held.close();
            lasting.assertNothingLeft();
        }
    }

    /** A store refuses whoever comes with a smaller token than it has seen. */
    @Test
    @Tag("H220")
    void token_isGreaterThanThoseOfTheHoldersBefore() throws InterruptedException {
        Map<String, Long> seen = new HashMap<>();
        for (int round = 1; round <= 3; round++) {
            for (InterProcessLock next : List.of(scene.lock, scene.rival)) {
                Lease lease = next.acquire();
                MultiLease.tokensOf(lease)
                        .forEach((path, token) -> assertThat(token)
                                .as("the token of %s, after these: %s", lease, seen)
                                .isGreaterThan(seen.getOrDefault(path, 0L)));
                seen.putAll(MultiLease.tokensOf(lease));
                lease.close();
            }
        }
        scene.assertNothingLeft();
    }

    /** The session is long, because nobody repeats a write of the raw handle if the machine stalls. */
    @Test
    @Tag("H220")
    void guards_letWritesThrough_onlyWhileTheLockIsHeld() throws InterruptedException, KeeperException {
        try (Contenders quiet = Contenders.openQuiet(server, recipe())) {
            Scene own = Scene.of(quiet);
            Lease held = own.lock.acquire();
            List<Op> guards = MultiLease.guardsOf(held);
            ZooKeeper handle = quiet.client.zooKeeper().orElseThrow();
            assertThat(handle.multi(guards)).hasSameSizeAs(guards);
            held.close();
            own.awaitNobody();
            Lease rivals = own.rival.acquire();
            assertThatThrownBy(() -> handle.multi(guards)).isInstanceOf(NoNodeException.class);
            rivals.close();
            own.assertNothingLeft();
        }
    }

    @Test
    @Tag("H220")
    void verification_isACommittedCheck() throws InterruptedException {
        try (Contenders quiet = Contenders.openQuiet(server, recipe())) {
            Scene own = Scene.of(quiet);
            Lease held = own.lock.acquire();
            RequestCounts before = quiet.proxy.requestsSeen();
            held.verify();
            RequestCounts sent = quiet.proxy.requestsSeen().minus(before);
            assertThat(Step.writes(sent)).as(sent.toString()).isPositive();
            held.close();
            own.assertNothingLeft();
        }
    }

    /** Where a node is handed over inside the process, there may be nothing to wait for. */
    @Test
    @Tag("H220")
    void asynchronousRelease_isOverWhenTheServerConfirmsIt() throws InterruptedException {
        Lease held = Soon.get(lock.acquireAsync());
        contenders.proxy.pauseRequests();
        CompletableFuture<Void> closed = held.closeAsync();
        if (!recipe().localHandoffs()) {
            assertThat(closed).as("the release that no server has heard of").isNotDone();
        }
        contenders.proxy.resume();
        Soon.get(closed);
        scene.assertNothingLeft();
    }

    @Test
    @Tag("H220")
    void prolongedLease_endsWithItsNewTime() throws InterruptedException {
        Scene limited = Scene.of(contenders, LockOptions.defaults().withHoldAtMost(Duration.ofHours(1)));
        Lease held = limited.lock.acquire();
        assertThat(held.prolong(ONE_SECOND)).as("prolong() of %s", held).isTrue();
        await().until(() -> held.state() == LeaseState.LOST);
        assertThat(held.prolong(ONE_SECOND)).as("prolong() of %s", held).isFalse();
        held.close();
        limited.assertNothingLeft();
    }

    @Test
    @Tag("H220")
    void participants_areAllThatHoldOrWait() throws InterruptedException {
        Lease held = scene.rival.acquire();
        CompletableFuture<Lease> waiting = lock.acquireAsync();
        scene.awaitWaiting();
        assertThat(lock.participants())
                .extracting(each -> each.path() + "/" + each.node())
                .containsExactlyInAnyOrderElementsOf(scene.nodes());
        held.close();
        Soon.get(waiting).close();
        scene.assertNothingLeft();
    }

    @Test
    @Tag("H103")
    void closedLease_hasNoTokens_andNoGuards() throws InterruptedException {
        Lease closed = lock.acquire();
        closed.close();
        for (ThrowingCallable question : List.<ThrowingCallable>of(
                closed::fencingToken,
                () -> MultiLease.tokensOf(closed),
                () -> MultiLease.guardsOf(closed),
                closed::verify)) {
            assertThatThrownBy(question)
                    .isInstanceOf(IllegalMonitorStateException.class)
                    .hasMessageContaining("is closed");
        }
        scene.assertNothingLeft();
    }

    @Test
    @Tag("H11")
    void deletedNode_losesTheLock() throws InterruptedException {
        Lease held = lock.acquire();
        AtomicInteger losses = new AtomicInteger();
        held.onLost(losses::incrementAndGet);
        List<String> nodes = scene.nodes();
        String deleted = nodes.get(nodes.size() - 1);
        try (Lateness lateness = Lateness.measure()) {
            long start = System.nanoTime();
            server.deleteNode(deleted);
            await().until(() -> losses.get() == 1);
            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .isLessThan(SHORT.dividedBy(2).plus(lateness.soFar()));
        }
        assertThat(held.state()).isEqualTo(LeaseState.LOST);
        assertThatThrownBy(() -> MultiLease.tokensOf(held))
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining(deleted.substring(deleted.lastIndexOf('/') + 1))
                .hasMessageContaining("deleted");
        held.close();
        lock.acquire().close();
        scene.assertNothingLeft();
    }
}
