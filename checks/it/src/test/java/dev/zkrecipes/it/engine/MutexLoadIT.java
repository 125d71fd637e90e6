// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** P1, P3 under load: nothing but the mutex protects what is counted here. */
class MutexLoadIT extends ServerStage {
    private int counter; // not volatile, not atomic: the lock is all there is
    private long lastToken;

    private void increment(Lease lease) {
        assertThat(lease.fencingToken()).isGreaterThan(lastToken);
        lastToken = lease.fencingToken();
        counter = counter + 1;
    }

    @Test
    @Tag("alone")
    @EnabledForJreRange(min = JRE.JAVA_21)
    void twoThousandVirtualThreads_areAllServed() throws Exception {
        try (ZooKeeperClient client = client();
                Workers workers = Workers.virtual()) {
            InterProcessMutex mutex = new InterProcessMutex(client, path);
            for (int i = 0; i < 2000; i++) {
                workers.start("virtual-" + i, () -> {
                    try (Lease lease = mutex.acquire()) {
                        increment(lease);
                    }
                });
            }
            workers.join(Duration.ofMinutes(2));
            assertThat(counter).isEqualTo(2000);
        }
    }
}
