// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.jfr.JfrLockObserver;
import dev.zkrecipes.micrometer.LockMetrics;
import dev.zkrecipes.micrometer.LockObservations;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The code of {@code docs/observing.md} is the code of this test. */
@WithZooKeeper
@Timeout(600)
class ObservingDocIT {
    @Test
    void observers_areNotified(EmbeddedZooKeeper server) throws Exception {
        String servers = server.connectString();
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        ObservationRegistry observations = ObservationRegistry.create();

        ZooKeeperClient client = ZooKeeperClient.builder()
                .connectString(servers)
                .observer(new LockMetrics(meters))
                .observer(new LockObservations(observations))
                .observer(new JfrLockObserver())
                .slowAfter(Duration.ofSeconds(30))
                .build();
        InterProcessMutex mutex = new InterProcessMutex(
                client, "/locks/orders/4711", LockOptions.defaults().withName("orders"));

        mutex.acquire().close();
        client.close();
        assertThat(meters.get("zkrecipes.lock.wait")
                        .tag("name", "orders")
                        .timer()
                        .count())
                .isEqualTo(1);
        meters.close();
    }
}
