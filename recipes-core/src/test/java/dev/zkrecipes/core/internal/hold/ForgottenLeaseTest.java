// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.MAP;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.PrintedWhile;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.WaitingScheduler;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.spi.LockGroups;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.Ports;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Leases that nobody has any more, and that nobody has closed. */
@Timeout(600)
@Tag("H112")
class ForgottenLeaseTest {
    private static final Duration MOST = Duration.ofMillis(400);

    private final WaitingScheduler scheduler = new WaitingScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler.engine);
    private final ZooKeeperClient client = Ports.clientBuilder(states -> operations, scheduler)
            .callbackExecutor(Runnable::run)
            .ownerLabel("label")
            .build();
    private final LockInternals internals =
            internals("/locks/orders", LockOptions.defaults().withHoldAtMost(MOST));
    private final InterProcessLock lock = internals.threadOwned();

    private LockInternals internals(String path, LockOptions options) {
        return new LockInternals(client, path, new MutexDriver(), options);
    }

    private static void awaitForgotten(WeakReference<Lease> lease) {
        Awaitility.await().atMost(Duration.ofSeconds(120)).until(() -> {
            System.gc();
            return lease.refersTo(null);
        });
    }

    private void loseAndForget(Callable<Lease> acquire) throws Exception {
        WeakReference<Lease> lease = new WeakReference<>(acquire.call());
        scheduler.engine.advance(MOST);
        awaitForgotten(lease);
    }

    private String printedByAcquire() {
        return PrintedWhile.running(() -> assertThat(lock.tryAcquire()).isPresent());
    }

    @Test
    void lostLeaseThatNobodyHas_countsAsClosed_onceTheThreadWasTold() throws Exception {
        loseAndForget(lock::acquire);
        assertThatThrownBy(lock::acquire)
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining("from now on it counts as closed");
        assertThat(printedByAcquire())
                .containsOnlyOnce("WARN")
                .contains("The lock /locks/orders of label was lost while thread ");
        assertThat(lock.holdCount()).isEqualTo(1);
        assertThat(printedByAcquire()).isEmpty();
    }

    @Test
    void lostLeaseThatNobodyHas_keepsNoNode() throws Exception {
        List<WeakReference<Held>> nodes = new ArrayList<>();
        loseAndForget(() -> {
            Lease lease = lock.acquire();
            nodes.add(new WeakReference<>(((Hold) lease).grants().get(0)));
            return lease;
        });
        Awaitility.await().atMost(Duration.ofSeconds(120)).until(() -> {
            System.gc();
            return nodes.get(0).refersTo(null);
        });
        assertThatThrownBy(lock::release).isInstanceOf(LockLostException.class);
    }

    @Test
    void lostLeaseThatSomebodyHas_doesNot() throws Exception {
        Lease lease = lock.acquire();
        scheduler.engine.advance(MOST);
        System.gc();
        assertThatThrownBy(lock::acquire).isInstanceOf(LockLostException.class);
        lease.close();
        lock.acquire().close();
    }

    @Test
    void releaseWithoutTheLease_tellsOfTheLoss_onceForEach() throws Exception {
        loseAndForget(() -> {
            lock.acquire();
            return lock.acquire();
        });
        assertThatThrownBy(lock::release).isInstanceOf(LockLostException.class);
        assertThatThrownBy(lock::release).isInstanceOf(LockLostException.class);
        assertThatThrownBy(lock::release).isInstanceOf(IllegalMonitorStateException.class);
        lock.acquire().close();
    }

    @Test
    void recordOfAThread_goesWithItsLastLease_whenThatWasForgotten() throws Exception {
        loseAndForget(lock::acquire);
        assertThatThrownBy(lock::release).isInstanceOf(LockLostException.class);
        assertThat(EngineClient.of(client).holds().ofThreads()).isEmpty();
    }

    @Test
    void recordOfAThread_goesWithItsLastLease_whenThatCountsAsClosed() throws Exception {
        loseAndForget(lock::acquire);
        assertThatThrownBy(lock::tryAcquire).isInstanceOf(LockLostException.class);
        operations.add("0123456789abcdef0123456789abcdef-lock-0000000000");
        assertThat(lock.tryAcquire()).isEmpty();
        assertThat(EngineClient.of(client).holds().ofThreads()).isEmpty();
    }

    /** As in {@code acquire(); try { inner(); } finally { release(); }}, where nobody has the lease. */
    @Test
    @Tag("H02")
    void threadInTheSectionOfALostLock_isToldBeforeItGetsTheLockAgain() throws Exception {
        loseAndForget(lock::acquire);
        assertThatThrownBy(lock::tryAcquire).isInstanceOf(LockLostException.class);
        assertThatThrownBy(lock::release).isInstanceOf(LockLostException.class);
        lock.acquire().close();
        assertThat(lock.holdCount()).isZero();
    }

    @Test
    void heldLeaseThatNobodyHas_isGivenBackByItsThread() throws Exception {
        lock.acquire();
        System.gc();
        assertThat(lock.isHeldByCurrentThread()).isTrue();
        lock.release();
        assertThat(operations.nodes()).isEmpty();
    }

    @Test
    void lockHeldByItsObject_isFreeAgain() throws Exception {
        InterProcessLock once = internals.instanceOwned();
        loseAndForget(once::acquire);
        assertThatThrownBy(once::acquire).isInstanceOf(LockLostException.class);
        once.acquire().close();
    }

    @Test
    void restOfSeveralLocks_isGivenBack() throws Exception {
        InterProcessLock both = both(LockOptions.defaults());
        WeakReference<Lease> lease = new WeakReference<>(both.acquire());
        operations.remove(operations.nodes().get(0));
        scheduler.engine.advance(operations.sessionTimeout().dividedBy(2));
        awaitForgotten(lease);
        assertThatThrownBy(both::tryAcquire).isInstanceOf(LockLostException.class);
        assertThat(PrintedWhile.running(() -> both.tryAcquire().orElseThrow().close()))
                .containsOnlyOnce("WARN");
        assertThat(operations.nodes()).isEmpty();
    }

    private InterProcessLock both(LockOptions options) {
        return LockGroups.together(
                List.of(
                        internals("/locks/a", LockOptions.defaults()).threadOwned(),
                        internals("/locks/b", LockOptions.defaults()).threadOwned()),
                options);
    }

    @Test
    void severalLocksThatAreAllLost_areToldOfOnce() throws Exception {
        InterProcessLock both = both(LockOptions.defaults().withHoldAtMost(MOST));
        loseAndForget(both::acquire);
        assertThatThrownBy(both::tryAcquire).isInstanceOf(LockLostException.class);
        assertThat(PrintedWhile.running(() -> both.tryAcquire().orElseThrow().close()))
                .containsOnlyOnce("WARN");
    }

    @Test
    void severalLocksThatAreAllLost_areGivenBackAsOne() throws Exception {
        InterProcessLock both = both(LockOptions.defaults().withHoldAtMost(MOST));
        loseAndForget(both::acquire);
        assertThatThrownBy(both::release).isInstanceOf(LockLostException.class);
        both.acquire().close();
    }

    @Test
    void severalLocksThatAreAllLost_areNotForgotten_onceTheyWereClosed() throws Exception {
        InterProcessLock both = both(LockOptions.defaults().withHoldAtMost(MOST));
        AtomicReference<@Nullable Lease> younger = new AtomicReference<>();
        loseAndForget(() -> {
            Lease older = both.acquire();
            younger.set(both.acquire());
            scheduler.engine.advance(MOST);
            older.close();
            return older;
        });
        Objects.requireNonNull(younger.get()).close();
        assertThat(PrintedWhile.running(() -> both.tryAcquire().orElseThrow().close()))
                .isEmpty();
    }

    private String printedSoon() {
        return PrintedWhile.running(() -> scheduler.engine.advance(Duration.ofSeconds(2)));
    }

    private WeakReference<Lease> heldAsync(String path) {
        return heldAsync(internals(path, LockOptions.defaults()).threadOwned(), lease -> {});
    }

    private WeakReference<Lease> heldAsync(InterProcessLock asked, Consumer<Lease> first) {
        CompletableFuture<Lease> wanted = asked.acquireAsync();
        scheduler.engine.run();
        first.accept(wanted.join());
        return new WeakReference<>(wanted.join());
    }

    @Test
    void heldLeaseOfNoThread_countsAsHeld_andItsListenersAreToldOfItsLoss() {
        AtomicInteger losses = new AtomicInteger();
        awaitForgotten(heldAsync(lock, lease -> lease.onLost(losses::incrementAndGet)));
        assertThat(lock.isAcquiredInThisProcess()).isTrue();
        scheduler.engine.advance(MOST);
        assertThat(losses).hasValue(1);
        assertThat(lock.isAcquiredInThisProcess()).isFalse();
        assertThat(EngineClient.of(client).holds().ofNobody())
                .extracting("open", MAP)
                .isEmpty();
    }

    @Test
    void heldLeaseOfNoThread_isNotKeptByItsListeners() {
        awaitForgotten(heldAsync(lock, lease -> {
            lease.onRevocationRequested(request -> {});
            lease.onLost(() -> {});
            lease.ended();
            scheduler.engine.run();
        }));
    }

    @Test
    void heldLeaseOfNoThread_isWarnedOf_andStaysHeld() throws InterruptedException {
        awaitForgotten(heldAsync("/locks/async"));
        Awaitility.await().atMost(Duration.ofSeconds(120)).untilAsserted(() -> {
            lock.acquire().close(); // something is asked for
            assertThat(printedSoon())
                    .containsOnlyOnce("WARN")
                    .contains(
                            "The lock /locks/async of label is held by a lease of acquireAsync that nobody references");
        });
        assertThat(operations.nodes()).hasSize(1);
        lock.acquire().close();
        assertThat(printedSoon()).isEmpty();
    }

    @Test
    void lostLeaseOfNoThread_isInNoRecord() {
        CompletableFuture<Lease> wanted = lock.acquireAsync();
        scheduler.engine.run();
        Lease lease = wanted.join();
        scheduler.engine.advance(MOST);
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        assertThat(EngineClient.of(client).holds().ofNobody())
                .extracting("open", MAP)
                .isEmpty();
        lease.close();
    }

    /** The engine has not come to its node. */
    @Test
    void leaseOfNoThreadThatWasJustClosed_isNotWarnedOf() throws InterruptedException {
        WeakReference<Lease> lease = heldAsync("/locks/async");
        var unused = Objects.requireNonNull(lease.get()).closeAsync();
        awaitForgotten(lease);
        lock.acquire().close();
        assertThat(printedSoon()).isEmpty();
    }

    @Test
    void closedLeaseOfNoThread_isNotWarnedOf() throws InterruptedException {
        WeakReference<Lease> lease = heldAsync("/locks/async");
        Objects.requireNonNull(lease.get()).close();
        scheduler.engine.run();
        awaitForgotten(lease);
        lock.acquire().close();
        assertThat(printedSoon()).isEmpty();
    }
}
