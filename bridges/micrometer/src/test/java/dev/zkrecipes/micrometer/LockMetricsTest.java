// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.micrometer;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.LockObserver;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(600)
class LockMetricsTest {
    private final MeterRegistry meters = new SimpleMeterRegistry();

    @Test
    void gauge_keepsItsValue_whenTheObserverIsCollected() {
        WeakReference<LockMetrics> observer = new WeakReference<>(observeOneHold());
        await().until(() -> {
            System.gc();
            return observer.refersTo(null);
        });
        assertThat(meters.get("zkrecipes.lock.held").gauge().value()).isEqualTo(1);
    }

    /** One for each client, or a new one for a client that took the place of another. */
    @Test
    void observersOfOneRegistry_countTogether() {
        observeOneHold();
        observeOneHold();
        assertThat(meters.get("zkrecipes.lock.held").gauge().value()).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource({
        "lock-, mutex",
        "__READ__, read",
        "__WRIT__, write",
        "lease., permits",
        "latch-, leadership",
        "range.7-, range.7",
        "'lock-,__READ__', 'mutex,read'"
    })
    void kind_isAWord(String kind, String word) {
        new LockMetrics(meters).onWaiting(new LockObserver.Request("/locks/orders", Optional.empty(), kind));
        assertThat(meters.get("zkrecipes.lock.waiting")
                        .tag("kind", word)
                        .gauge()
                        .value())
                .isEqualTo(1);
    }

    @Test
    void observersOfSeveralRegistries_countApart() {
        observeOneHold();
        SimpleMeterRegistry others = new SimpleMeterRegistry();
        new LockMetrics(others).onWaiting(new LockObserver.Request("/locks/orders", Optional.of("orders"), "lock-"));
        assertThat(others.get("zkrecipes.lock.held").gauge().value()).isZero();
    }

    /** While the problem lasts, not when it is over. */
    @Test
    void oldestWaitAndHold_growWhileTheyGoOn() {
        MockClock clock = new MockClock();
        SimpleMeterRegistry registry = new SimpleMeterRegistry(SimpleConfig.DEFAULT, clock);
        LockMetrics metrics = new LockMetrics(registry);
        LockObserver.Request request = new LockObserver.Request("/locks/orders", Optional.of("orders"), "lock-");
        LockObserver.Progress first = metrics.onWaiting(request);
        clock.add(Duration.ofSeconds(5));
        LockObserver.Progress second = metrics.onWaiting(request);
        first.onGranted(Duration.ofSeconds(5));
        clock.add(Duration.ofHours(1));
        assertThat(registry.get("zkrecipes.lock.oldest.wait").gauge().value()).isEqualTo(3600);
        assertThat(registry.get("zkrecipes.lock.oldest.hold").gauge().value()).isEqualTo(3600);
        first.onReleased(Duration.ofHours(1));
        second.onGranted(Duration.ofHours(1));
        clock.add(Duration.ofSeconds(7));
        assertThat(registry.get("zkrecipes.lock.oldest.wait").gauge().value()).isZero();
        assertThat(registry.get("zkrecipes.lock.oldest.hold").gauge().value()).isEqualTo(7);
        registry.close();
    }

    /** The clock is read before the times of what goes on, and one may begin in between. */
    @Test
    void oldestWait_isNotNegative() {
        MockClock clock = new MockClock();
        SimpleMeterRegistry registry = new SimpleMeterRegistry(SimpleConfig.DEFAULT, clock);
        new LockMetrics(registry).onWaiting(new LockObserver.Request("/locks/orders", Optional.empty(), "lock-"));
        clock.add(Duration.ofSeconds(-1));
        assertThat(registry.get("zkrecipes.lock.oldest.wait").gauge().value()).isZero();
        registry.close();
    }

    @Test
    void closedClient_isForgotten_alsoIfNobodyReadsTheGauges() {
        LockMetrics metrics = new LockMetrics(meters);
        WeakReference<Object> closed = new WeakReference<>(observeClosedClient(metrics));
        metrics.onClient(() -> ConnectionState.CONNECTED);
        await().until(() -> {
            System.gc();
            return closed.refersTo(null);
        });
    }

    private static Object observeClosedClient(LockMetrics metrics) {
        AtomicReference<ConnectionState> state = new AtomicReference<>(ConnectionState.CLOSED);
        metrics.onClient(state::get);
        return state;
    }

    /** The meters refer to their registry. */
    @Test
    void registry_isCollected_whenTheApplicationHasDroppedIt() {
        WeakReference<MeterRegistry> dropped = new WeakReference<>(registryWithOneHold());
        await().until(() -> {
            System.gc();
            return dropped.refersTo(null);
        });
    }

    private static MeterRegistry registryWithOneHold() {
        MeterRegistry registry = new SimpleMeterRegistry();
        new LockMetrics(registry)
                .onWaiting(new LockObserver.Request("/locks/orders", Optional.of("orders"), "lock-"))
                .onGranted(Duration.ZERO);
        return registry;
    }

    private LockMetrics observeOneHold() {
        LockMetrics observer = new LockMetrics(meters);
        observer.onWaiting(new LockObserver.Request("/locks/orders", Optional.of("orders"), "lock-"))
                .onGranted(Duration.ZERO);
        return observer;
    }
}
