// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.QueueLossPolicy;
import dev.zkrecipes.core.QueuePlaceLostException;
import dev.zkrecipes.test.Fault;
import dev.zkrecipes.test.Held;
import dev.zkrecipes.test.internal.Lateness;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * All ways to request a lock while the session, the connection or the client ends. A reconnect takes up to a second,
 * so where possible all ways share one.
 */
abstract class SessionContract extends Stage {
    private static final String FLAVOUR = "dev.zkrecipes.test.contract.Flavour#";
    private static final Duration SHORT = Duration.ofMillis(200);
    /** How late a thread may run on a machine that is not overloaded. */
    private static final Duration LATE = Duration.ofMillis(700);

    private static final Duration ONE_SECOND = Duration.ofSeconds(1);
    /**
     * A session for tests that wait for its end. If the reply to a create is lost with its session, the client looks
     * for the node until that session has certainly ended.
     */
    private static final Duration BRIEF = Duration.ofSeconds(2);
    /** A session as short as possible for a lease that has to stay valid on an overloaded machine. */
    private static final Duration OUTLASTING_STALLS = Duration.ofSeconds(4);
    /** A session that does not expire while a test runs. */
    private static final Duration LASTING = Duration.ofSeconds(40);

    // ---- The session goes.

    @Test
    @Tag("H58")
    void sessionLostWhileWaiting_queuesAgainInTheNext() throws InterruptedException {
        // Requests often learn that their nodes are gone before they learn of the end of the session, and then send a
        // create that gets no answer.
        try (Contenders own = Contenders.open(server, recipe(), OUTLASTING_STALLS)) {
            List<WaitingRequest> waiters = WaitingRequest.all(own, workers, LockOptions.defaults());
            long lost = own.session();
            server.expireSession(lost);
            own.awaitSessionAfter(lost);
            for (WaitingRequest waiter : waiters) {
                waiter.scene().awaitWaiting();
                waiter.held().close();
                assertGrantedNow(waiter);
            }
            waiters.get(0).scene().assertNothingLeft();
        }
    }

    @Test
    @Tag("H01")
    void sessionReplacedWhileWaiting_isGrantedOnlyOnANodeOfTheNext() throws InterruptedException {
        try (Contenders own = Contenders.open(server, recipe(), LASTING)) {
            List<WaitingRequest> waiters = WaitingRequest.all(own, workers, LockOptions.defaults());
            long replaced = own.session();
            Set<String> old = waiters.stream()
                    .flatMap(waiter -> waiter.scene().nodesOf(replaced).stream())
                    .collect(Collectors.toSet());
            // The client believes that its session has ended. The server keeps the session and its nodes, which
            // become first in the queue.
            own.client.zooKeeper().orElseThrow().getTestable().injectSessionExpiration();
            waiters.forEach(waiter -> waiter.held().close());
            for (WaitingRequest waiter : waiters) {
                waiter.request().outcome().assertGranted();
                assertThat(own.session()).isNotEqualTo(replaced);
                assertThat(waiter.scene().nodes()).doesNotContainAnyElementsOf(old);
                assertGrantedNow(waiter);
            }
            assertThat(server.sessions()).as("the old session lives on").contains(replaced);
            waiters.get(0).scene().assertNothingLeft();
        }
    }

    /** Checks that the waiter holds the lock with nodes of the present session only, and releases it. */
    private static void assertGrantedNow(WaitingRequest waiter) throws InterruptedException {
        waiter.request().outcome().assertGranted();
        waiter.scene().assertHeld();
        waiter.request().giveBack();
        waiter.scene().assertPathIsFree();
    }

    @Test
    @Tag("H58")
    @Tag("H59")
    void sessionLostWhileWaiting_failsByPolicy() throws InterruptedException {
        LockOptions options = LockOptions.defaults().withQueueLossPolicy(QueueLossPolicy.FAIL);
        try (Contenders own = Contenders.open(server, recipe(), LASTING)) {
            List<WaitingRequest> waiters = WaitingRequest.all(own, workers, options);
            // The client believes that its session has ended. The server keeps the session and its nodes, which have
            // to be deleted.
            own.client.zooKeeper().orElseThrow().getTestable().injectSessionExpiration();
            for (WaitingRequest waiter : waiters) {
                Request.Outcome outcome = waiter.request().outcome();
                outcome.assertFailed(QueuePlaceLostException.class, waiter.scene().path);
                outcome.assertInterrupted(false);
                waiter.scene().awaitOnlyTheRival();
                waiter.held().close();
                waiter.scene().assertPathIsFree();
            }
            waiters.get(0).scene().assertNothingLeft();
        }
    }

    /**
     * The server ends the session while the reply to one of the requests is in transit. A client that reads that reply
     * first may trust its lease until it learns of the end of the session, but not any longer.
     */
    @ParameterizedTest
    @MethodSource(FLAVOUR + "trying")
    @Tag("H02")
    void sessionLostDuringATry_leavesNoValidLease(Flavour flavour) throws InterruptedException {
        List<Contenders> open = new ArrayList<>();
        List<LostTry> tries = new ArrayList<>();
        try {
            // Each step has its own client, because a client looks for what it has lost for as long as its session
            // may be alive.
            for (Step step : Step.ofATry(server, recipe())) {
                Contenders own = Contenders.open(server, recipe(), BRIEF);
                open.add(own);
                Scene each = Scene.of(own);
                long lost = own.session();
                Held reply = own.proxy.holdReply(step.type(), step.nth());
                tries.add(new LostTry(step, own, each, lost, Request.of(workers, flavour, each.lock)));
                reply.awaitReached(Duration.ofSeconds(20));
                server.expireSession(lost);
                reply.release();
            }
            for (LostTry each : tries) {
                each.assertNoLeaseThatClaimsToBeValid();
            }
            for (LostTry each : tries) {
                each.scene().assertNothingLeft();
            }
        } finally {
            open.forEach(Contenders::close);
        }
    }

    // ---- The connection goes.

    @Test
    @Tag("H25")
    void disconnectedWhileWaiting_keepsItsPlace() throws InterruptedException {
        List<WaitingRequest> waiters = WaitingRequest.all(contenders, workers, LockOptions.defaults());
        List<List<String>> queues =
                waiters.stream().map(waiter -> waiter.scene().nodes()).toList();
        contenders.disconnect();
        for (WaitingRequest waiter : waiters) {
            waiter.held().close();
        }
        contenders.proxy.accept();
        for (int i = 0; i < waiters.size(); i++) {
            waiters.get(i).request().outcome().assertGranted();
            assertThat(queues.get(i)).containsAll(waiters.get(i).scene().nodes());
            assertGrantedNow(waiters.get(i));
        }
        scene.assertNothingLeft();
    }

    @Test
    @Tag("H50")
    void withoutAConnection_aTryFailsAtOnce_andTimeoutsAreKept() throws InterruptedException {
        contenders.disconnect();
        for (Flavour flavour : Flavour.trying().toList()) {
            Request.Outcome outcome = Request.of(workers, flavour, scene.lock).outcome();
            outcome.assertFailed(LockConnectionException.class, scene.path);
            outcome.assertInterrupted(false);
            outcome.assertTook(Duration.ZERO, LATE);
        }
        for (Flavour flavour : Flavour.timed().toList()) {
            assertTimesOut(Request.limited(workers, flavour, scene.lock, SHORT), SHORT);
        }
        contenders.proxy.accept();
        scene.assertNothingLeft();
    }

    @ParameterizedTest
    @MethodSource(FLAVOUR + "timed")
    @Tag("H50")
    void connectionLostWhileWaiting_keepsTimeouts(Flavour flavour) throws InterruptedException {
        Lease held = scene.rival.acquire();
        Duration limit = SHORT.multipliedBy(3);
        while (!isCutOffInTime(flavour, limit)) { // a disconnect after the end of the request proves nothing
            limit = limit.multipliedBy(4);
            assertThat(limit).isLessThan(Duration.ofSeconds(15));
        }
        held.close();
        scene.assertNothingLeft();
    }

    /**
     * Cuts off the client of a waiting request. Returns whether the request was still waiting when its client noticed
     * that.
     */
    private boolean isCutOffInTime(Flavour flavour, Duration limit) throws InterruptedException {
        Request request = Request.limited(workers, flavour, scene.lock, limit);
        scene.awaitWaiting(request);
        contenders.disconnect();
        boolean inTime = !request.isDone();
        if (inTime) {
            assertTimesOut(request, limit);
        }
        contenders.proxy.accept();
        contenders.awaitConnected();
        scene.awaitOnlyTheRival();
        return inTime;
    }

    private static void assertTimesOut(Request request, Duration limit) throws InterruptedException {
        Request.Outcome outcome = request.outcome();
        outcome.assertFailed(LockConnectionException.class); // nobody knows whether the lock is busy
        outcome.assertTook(limit, limit.plus(LATE));
    }

    @ParameterizedTest
    @MethodSource(FLAVOUR + "trying")
    void lostReplyToATrysWrite_failsIt_andRemovesTheNode(Flavour flavour) throws InterruptedException {
        List<Step> writes =
                Step.ofATry(server, recipe()).stream().filter(Step::isWrite).toList();
        assertThat(writes).isNotEmpty();
        for (Step write : writes) {
            Fault lost = contenders.proxy.dropReply(write.type(), write.nth());
            Request request = Request.of(workers, flavour, scene.lock);
            request.outcome().assertFailed(LockConnectionException.class, scene.path);
            lost.awaitFired(Duration.ofSeconds(20));
            scene.awaitNobody();
            scene.assertNothingLeft();
        }
    }

    // ---- The client goes.

    @Test
    @Tag("H20")
    void closingTheClient_endsEveryWaiterWithinASecond_andGrantsNone() throws InterruptedException {
        try (Contenders own = Contenders.open(server, recipe());
                Lateness lateness = Lateness.measure()) {
            List<WaitingRequest> waiters = WaitingRequest.all(own, workers, LockOptions.defaults());
            Duration late = lateness.soFar();
            long begin = System.nanoTime();
            own.client.close();
            for (WaitingRequest waiter : waiters) {
                Request.Outcome outcome = waiter.request().outcome();
                outcome.assertFailed(ClientClosedException.class, waiter.scene().path);
                outcome.assertInterrupted(false);
            }
            assertThat(Duration.ofNanos(System.nanoTime() - begin))
                    .isLessThan(ONE_SECOND.plus(lateness.soFar()).minus(late));
            for (WaitingRequest waiter : waiters) {
                waiter.scene().awaitOnlyTheRival();
                waiter.held().close();
                waiter.scene().assertNothingLeft();
            }
            InterProcessLock lock = waiters.get(0).scene().lock;
            for (Flavour flavour : Flavour.values()) {
                Request.Outcome outcome = Request.of(workers, flavour, lock).outcome();
                outcome.assertFailed(ClientClosedException.class, lock.path());
                outcome.assertInterrupted(false);
            }
        }
    }

    @Test
    @Tag("H20")
    void closingTheClientWithoutAServer_endsEveryWaiterWithinASecond() throws InterruptedException {
        try (Contenders own = Contenders.open(server, recipe());
                Lateness lateness = Lateness.measure()) {
            Scene alone = Scene.of(own);
            own.disconnect();
            List<Request> requests = Flavour.waiting()
                    .map(flavour -> Request.of(workers, flavour, alone.lock))
                    .toList();
            Duration late = lateness.soFar();
            long begin = System.nanoTime();
            workers.start("closing", own.client::close);
            for (Request request : requests) {
                request.outcome().assertFailed(ClientClosedException.class);
            }
            assertThat(Duration.ofNanos(System.nanoTime() - begin))
                    .isLessThan(ONE_SECOND.plus(lateness.soFar()).minus(late));
        }
    }

    /**
     * A try during which the server ended the session.
     *
     * @param step the request of the try that had not been answered yet
     * @param own the clients of the try
     * @param scene the path of the try
     * @param lost the id of the session
     * @param request the try itself
     */
    private record LostTry(Step step, Contenders own, Scene scene, long lost, Request request) {

        /** Waits until the client has its next session, and checks that the try has left no valid lease. */
        void assertNoLeaseThatClaimsToBeValid() throws InterruptedException {
            own.awaitSessionAfter(lost);
            Request.Outcome outcome = request.outcome();
            assertThat(scene.lock.isAcquiredInThisProcess())
                    .as("%s at %s", outcome, step)
                    .isFalse();
            if (outcome.ending() == Request.Outcome.Ending.GRANTED) {
                request.giveBackLost();
            } else {
                outcome.assertFailed(LockConnectionException.class, scene.path);
            }
            scene.assertPathIsFree();
        }
    }

    /**
     * A request that waits for a rival.
     *
     * @param scene the path of the request
     * @param held the lease of the rival
     * @param request the request that waits
     */
    private record WaitingRequest(Scene scene, Lease held, Request request) {

        /**
         * Makes a request in each of the ways that wait. All of them are watching their rivals when this method
         * returns.
         */
        static List<WaitingRequest> all(Contenders contenders, Workers workers, LockOptions options)
                throws InterruptedException {
            List<WaitingRequest> waiters = new ArrayList<>();
            for (Flavour flavour : Flavour.waiting().toList()) {
                Scene scene = Scene.of(contenders, options);
                Lease held = scene.rival.acquire();
                waiters.add(new WaitingRequest(scene, held, Request.of(workers, flavour, scene.lock)));
            }
            waiters.forEach(waiter -> waiter.scene.awaitWaiting());
            return waiters;
        }
    }
}
