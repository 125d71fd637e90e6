// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.micrometer;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockObserver;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
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

    @Test
    void observersOfSeveralRegistries_countApart() {
        observeOneHold();
        SimpleMeterRegistry others = new SimpleMeterRegistry();
        new LockMetrics(others).onWaiting(new LockObserver.Request("/locks/orders", Optional.of("orders"), "lock-"));
        assertThat(others.get("zkrecipes.lock.held").gauge().value()).isZero();
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
