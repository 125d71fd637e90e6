// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.mutex;

import static dev.zkrecipes.mutex.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.QueueLossPolicy;
import dev.zkrecipes.core.QueuePlaceLostException;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.Fault;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.Worker;
import dev.zkrecipes.test.Workers;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every way to ask for a lock against every way in which the request can end. Each method is one ending, played with each
 * {@link Flavour} that can end so; whatever the ending, nothing is left of the request. A recipe's test extends this class
 * and says which recipe.
 */
@Timeout(60)
@WithZooKeeper(tickTimeMillis = 100)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class AcquireContract {
    private static final String FLAVOUR = "dev.zkrecipes.mutex.Flavour#";
    private static final Duration SHORT = Duration.ofMillis(200);
    /** How late a thread may be on a busy machine. */
    private static final Duration LATE = Duration.ofMillis(700);

    private static final int INTERRUPTS = 1500;

    private EmbeddedZooKeeper server;
    private Contenders contenders;
    private Workers workers;
    private Scene scene;

    abstract Recipe recipe();

    @BeforeAll
    void open(EmbeddedZooKeeper started) throws InterruptedException {
        server = started;
        contenders = Contenders.open(server, recipe());
    }

    @AfterAll
    void close() {
        contenders.close();
    }

    @BeforeEach
    void set() throws InterruptedException {
        scene = Scene.of(contenders);
        workers = new Workers();
    }

    @AfterEach
    void endWorkers() {
        workers.close();
    }

    // ---- With the lock.

    @ParameterizedTest
    @EnumSource
    void freeLock_isGranted(Flavour flavour) throws Exception {
        Request request = Request.of(workers, flavour, scene.lock);
        request.outcome().assertGranted();
        request.outcome().assertInterrupted(false);
        assertThat(scene.lock.isAcquiredInThisProcess()).isTrue();
        assertThat(server.owner(scene.onlyNode())).hasValue(contenders.session());
        assertThat(scene.rival.tryAcquire()).isEmpty();
        request.giveBack();
        scene.assertNothingLeft();
    }

    @ParameterizedTest
    @MethodSource(FLAVOUR + "waiting")
    void heldLock_isGrantedWhenItIsGivenBack(Flavour flavour) throws Exception {
        Lease held = scene.rival.acquire();
        Request request = Request.of(workers, flavour, scene.lock);
        scene.awaitWaiting();
        assertThat(request.isDone()).isFalse();
        assertThat(scene.lock.isAcquiredInThisProcess()).isFalse();
        held.close();
        request.outcome().assertGranted();
        request.outcome().assertInterrupted(false);
        assertThat(scene.rival.tryAcquire()).isEmpty();
        request.giveBack();
        scene.assertNothingLeft();
    }

    // ---- Without the lock, because others have it.

    @ParameterizedTest
    @MethodSource(FLAVOUR + "trying")
    @Tag("H55")
    void heldLock_isNotGrantedToWhoOnlyTries_andNothingIsWritten(Flavour flavour) throws Exception {
        Lease held = scene.rival.acquire();
        RequestCounts before = server.requests();
        Request request = Request.of(workers, flavour, scene.lock);
        request.outcome().assertNotGranted();
        assertThat(server.requests().minus(before).of(RequestType.CREATE2)).isZero();
        held.close();
        scene.assertNothingLeft();
    }

    @ParameterizedTest
    @MethodSource(FLAVOUR + "timed")
    void zeroTimeout_onlyTries(Flavour flavour) throws Exception {
        Lease held = scene.rival.acquire();
        RequestCounts before = server.requests();
        Request request = Request.limited(workers, flavour, scene.lock, Duration.ZERO);
        request.outcome().assertNotGranted();
        assertThat(server.requests().minus(before).of(RequestType.CREATE2)).isZero();
        held.close();
        scene.assertNothingLeft();
    }

    @Test
    void negativeTimeout_isRefusedAndToALockMeansToTry() throws Exception {
        assertThatThrownBy(() -> scene.lock.tryAcquire(Duration.ofNanos(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT-0.000000001S");
        try (Lease held = scene.rival.acquire()) {
            assertThat(scene.lock.asLock().tryLock(-1, TimeUnit.DAYS)).isFalse();
            assertThat(scene.lock.asLock().tryLock(Long.MIN_VALUE, TimeUnit.DAYS))
                    .isFalse();
        }
        scene.assertNothingLeft();
    }

    @ParameterizedTest
    @MethodSource(FLAVOUR + "timed")
    void longestTimeout_isNoTimeout(Flavour flavour) throws Exception {
        Lease held = scene.rival.acquire();
        Request request = Request.limited(workers, flavour, scene.lock, Duration.ofNanos(Long.MAX_VALUE));
        scene.awaitWaiting();
        held.close();
        request.outcome().assertGranted();
        request.giveBack();
        scene.assertNothingLeft();
    }

    @ParameterizedTest
    @MethodSource(FLAVOUR + "timed")
    @Tag("H36")
    void timedOutWaiter_isNotGrantedAfterwards_butWhoAsksNext(Flavour flavour) throws Exception {
        Lease held = scene.rival.acquire();
        Request request = Request.limited(workers, flavour, scene.lock, SHORT);
        scene.awaitWaiting();
        request.outcome().assertNotGranted();
        request.outcome().assertInterrupted(false);
        assertThat(request.outcome().took()).isBetween(SHORT, SHORT.plus(LATE));
        held.close();
        scene.lock.tryAcquire().orElseThrow().close();
        scene.assertNothingLeft();
    }

    // ---- Interrupted.

    @ParameterizedTest
    @MethodSource(FLAVOUR + "interruptible")
    @Tag("H52")
    void interruptBefore_endsTheRequestBeforeAnythingIsSent(Flavour flavour) throws Exception {
        RequestCounts before = server.requests();
        Request request = Request.interrupted(workers, flavour, scene.lock);
        request.outcome().assertFailed(InterruptedException.class);
        request.outcome().assertInterrupted(false);
        assertThat(server.requests().minus(before).total()).isZero();
        scene.assertNothingLeft();
    }

    @ParameterizedTest
    @MethodSource(FLAVOUR + "uninterruptible")
    @Tag("H54")
    void interruptBefore_doesNotDisturbTheOthersAndIsKept(Flavour flavour) throws Exception {
        Request request = Request.interrupted(workers, flavour, scene.lock);
        request.outcome().assertGranted();
        request.outcome().assertInterrupted(true);
        request.giveBack();
        scene.assertNothingLeft();
    }

    @ParameterizedTest
    @MethodSource(FLAVOUR + "interruptible")
    @Tag("H52")
    void interruptWhileWaiting_endsTheRequest(Flavour flavour) throws Exception {
        Lease held = scene.rival.acquire();
        Request request = Request.of(workers, flavour, scene.lock);
        scene.awaitWaiting();
        request.interrupt();
        request.outcome().assertFailed(InterruptedException.class);
        request.outcome().assertInterrupted(false);
        scene.awaitNodes(1);
        held.close();
        scene.assertNothingLeft();
    }

    @Test
    @Tag("H54")
    void interruptWhileWaiting_doesNotDisturbLockAndIsKept() throws Exception {
        Lease held = scene.rival.acquire();
        Request request = Request.of(workers, Flavour.JUC_LOCK, scene.lock);
        scene.awaitWaiting();
        List<String> queue = scene.nodes();
        request.interrupt();
        held.close();
        request.outcome().assertGranted();
        request.outcome().assertInterrupted(true);
        assertThat(queue).containsAll(scene.nodes());
        request.giveBack();
        scene.assertNothingLeft();
    }

    @Test
    @Tag("H40")
    void interruptsAtRandomTimes_leaveNoNode() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        AtomicInteger interrupted = new AtomicInteger();
        List<Flavour> flavours = Flavour.interruptible().toList();
        Worker asking = workers.start("asking", () -> {
            for (int i = 0; interrupted.get() < INTERRUPTS; i++) {
                try {
                    Optional<Runnable> hold = flavours.get(i % flavours.size()).ask(scene.lock, Duration.ofMinutes(1));
                    hold.orElseThrow().run();
                } catch (InterruptedException e) {
                    interrupted.incrementAndGet();
                }
            }
        });
        workers.start("rival", () -> {
            while (asking.isAlive()) {
                scene.rival.acquire().close();
            }
        });
        while (asking.isAlive()) {
            LockSupport.parkNanos(random.nextInt(2_000_000));
            asking.interrupt();
        }
        workers.join(Duration.ofSeconds(10));
        assertThat(interrupted).as("seed " + seed).hasValueGreaterThanOrEqualTo(INTERRUPTS);
        scene.assertNothingLeft();
    }

    // ---- Without a session, without a connection. Reconnecting takes up to a second, so all flavours do it together.

    @Test
    @Tag("H58")
    void sessionLostWhileWaiting_queuesAgainInTheNext() throws Exception {
        List<Waiter> waiters = Waiter.all(contenders, workers, LockOptions.defaults());
        long lost = contenders.session();
        server.expireSession(lost);
        // The watches of the lost session may be counted until its connection is closed.
        await().until(() -> contenders.session() != lost);
        contenders.awaitWatches(waiters.size());
        for (Waiter waiter : waiters) {
            waiter.scene().awaitNodes(2);
            waiter.held().close();
            waiter.request().outcome().assertGranted();
            assertThat(server.owner(waiter.scene().onlyNode())).hasValue(contenders.session());
            waiter.request().giveBack();
            waiter.scene().assertPathIsFree();
        }
        scene.assertNothingLeft();
    }

    @Test
    @Tag("H58")
    @Tag("H59")
    void sessionLostWhileWaiting_failsIfToldSo() throws Exception {
        LockOptions options = LockOptions.defaults().withQueueLossPolicy(QueueLossPolicy.FAIL);
        List<Waiter> waiters = Waiter.all(contenders, workers, options);
        // The client takes its session for ended, the server keeps it and the nodes, which have to be deleted.
        contenders.client.zooKeeper().orElseThrow().getTestable().injectSessionExpiration();
        for (Waiter waiter : waiters) {
            waiter.request().outcome().assertFailed(QueuePlaceLostException.class);
            waiter.request().outcome().assertInterrupted(false);
            assertThat(waiter.request().outcome().error()).hasMessageContaining(waiter.scene().path);
            waiter.scene().awaitNodes(1);
            waiter.held().close();
            waiter.scene().assertPathIsFree();
        }
        scene.assertNothingLeft();
    }

    @Test
    @Tag("H25")
    void disconnectedWhileWaiting_keepsItsPlace() throws Exception {
        List<Waiter> waiters = Waiter.all(contenders, workers, LockOptions.defaults());
        List<List<String>> queues =
                waiters.stream().map(waiter -> waiter.scene().nodes()).toList();
        contenders.disconnect();
        for (Waiter waiter : waiters) {
            waiter.held().close();
        }
        contenders.proxy.accept();
        for (int i = 0; i < waiters.size(); i++) {
            Waiter waiter = waiters.get(i);
            waiter.request().outcome().assertGranted();
            assertThat(queues.get(i)).containsAll(waiter.scene().nodes());
            waiter.request().giveBack();
            waiter.scene().assertPathIsFree();
        }
        scene.assertNothingLeft();
    }

    @Test
    @Tag("H50")
    void withoutAConnection_whoOnlyTriesFailsAtOnceAndTimeOutsAreKept() throws Exception {
        contenders.disconnect();
        for (Flavour flavour : Flavour.trying().toList()) {
            Outcome outcome = Request.of(workers, flavour, scene.lock).outcome();
            outcome.assertFailed(LockConnectionException.class);
            outcome.assertInterrupted(false);
            assertThat(outcome.error()).hasMessageContaining(scene.path);
            assertThat(outcome.took()).isLessThan(LATE);
        }
        for (Flavour flavour : Flavour.timed().toList()) {
            Outcome outcome =
                    Request.limited(workers, flavour, scene.lock, SHORT).outcome();
            outcome.assertNotGranted();
            assertThat(outcome.took()).isBetween(SHORT, SHORT.plus(LATE));
        }
        contenders.proxy.accept();
        scene.assertNothingLeft();
    }

    @ParameterizedTest
    @MethodSource(FLAVOUR + "trying")
    void connectionLostMeanwhile_failsWhoOnlyTries(Flavour flavour) throws Exception {
        Fault lost = contenders.proxy.dropReply(RequestType.CREATE2, 1);
        Request request = Request.of(workers, flavour, scene.lock);
        request.outcome().assertFailed(LockConnectionException.class);
        assertThat(request.outcome().error()).hasMessageContaining(scene.path);
        lost.awaitFired(Duration.ofSeconds(1));
        scene.awaitNodes(0);
        scene.assertNothingLeft();
    }

    // ---- Ended by the application.

    @Test
    @Tag("H20")
    void closingTheClient_endsEveryWaiterWithinASecondAndLetsNobodyIn() throws Exception {
        try (Contenders own = Contenders.open(server, recipe())) {
            List<Waiter> waiters = Waiter.all(own, workers, LockOptions.defaults());
            long begin = System.nanoTime();
            own.client.close();
            for (Waiter waiter : waiters) {
                waiter.request().outcome().assertFailed(ClientClosedException.class);
                waiter.request().outcome().assertInterrupted(false);
                assertThat(waiter.request().outcome().error()).hasMessageContaining(waiter.scene().path);
            }
            assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(1));
            for (Waiter waiter : waiters) {
                waiter.scene().awaitNodes(1);
                waiter.held().close();
                waiter.scene().assertNothingLeft();
            }
            for (Flavour flavour : Flavour.values()) {
                InterProcessLock lock = waiters.get(0).scene().lock;
                Outcome outcome = Request.of(workers, flavour, lock).outcome();
                outcome.assertFailed(ClientClosedException.class);
                outcome.assertInterrupted(false);
                assertThat(outcome.error()).hasMessageContaining(lock.path());
            }
        }
    }

    @Test
    @Tag("H20")
    void closingTheClientWithoutAServer_endsEveryWaiterWithinASecond() throws Exception {
        try (Contenders own = Contenders.open(server, recipe())) {
            Scene alone = Scene.of(own);
            own.disconnect();
            List<Request> requests = Flavour.waiting()
                    .map(flavour -> Request.of(workers, flavour, alone.lock))
                    .toList();
            long begin = System.nanoTime();
            workers.start("closing", own.client::close);
            for (Request request : requests) {
                request.outcome().assertFailed(ClientClosedException.class);
            }
            assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(1));
        }
    }

    /** The ways to end a future that one does not want any more. */
    static Stream<Named<Consumer<CompletableFuture<Lease>>>> renunciations() {
        return Stream.of(
                Named.of("cancel", wanted -> wanted.cancel(true)),
                Named.of("complete", wanted -> wanted.complete(null)),
                Named.of("fail", wanted -> wanted.completeExceptionally(new IllegalStateException("no longer"))),
                Named.of("time out", wanted -> wanted.orTimeout(1, TimeUnit.MILLISECONDS)));
    }

    @ParameterizedTest
    @MethodSource("renunciations")
    void futureEndedByTheCaller_leavesTheQueue(Consumer<CompletableFuture<Lease>> renunciation) throws Exception {
        Lease held = scene.rival.acquire();
        CompletableFuture<Lease> wanted = scene.lock.acquireAsync();
        scene.awaitWaiting();
        renunciation.accept(wanted);
        scene.awaitNodes(1);
        held.close();
        scene.assertNothingLeft();
    }

    @Test
    void futureCancelledAsItIsGranted_givesTheLockBack() throws Exception {
        for (int i = 0; i < 200; i++) {
            CompletableFuture<Lease> wanted = scene.lock.acquireAsync();
            scene.nodes(); // a varying little while
            if (!wanted.cancel(true)) {
                wanted.join().close();
            }
        }
        scene.assertNothingLeft();
    }

    // ---- Refused.

    @ParameterizedTest
    @MethodSource(FLAVOUR + "blocking")
    @Tag("H34")
    void blockingOnTheEventThread_isRefused(Flavour flavour) throws Exception {
        CompletableFuture<Optional<Runnable>> asked = new CompletableFuture<>();
        onEventThread(() -> {
            try {
                asked.complete(flavour.ask(scene.lock, SHORT));
            } catch (InterruptedException | RuntimeException e) {
                asked.completeExceptionally(e);
            }
        });
        assertThat(asked)
                .failsWithin(Duration.ofSeconds(2))
                .withThrowableThat()
                .withCauseExactlyInstanceOf(IllegalStateException.class)
                .withMessageContaining("EventThread");
        scene.assertNothingLeft();
    }

    @Test
    @Tag("H34")
    void askingAndGivingBackOnTheEventThread_works() throws Exception {
        CompletableFuture<CompletableFuture<Lease>> asked = new CompletableFuture<>();
        onEventThread(() -> asked.complete(scene.lock.acquireAsync()));
        Lease lease = asked.get(2, TimeUnit.SECONDS).get(2, TimeUnit.SECONDS);
        CompletableFuture<Void> closed = new CompletableFuture<>();
        onEventThread(() -> {
            lease.close();
            closed.complete(null);
        });
        closed.get(2, TimeUnit.SECONDS);
        scene.assertNothingLeft();
    }

    private void onEventThread(Runnable task) {
        ZooKeeper handle = contenders.client.zooKeeper().orElseThrow();
        handle.exists("/none", false, (rc, path, ctx, stat) -> task.run(), null);
    }
}
