// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.test.internal.ServerStage;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The function that changes a rule is user code and may take its time. */
@Tag("H83")
class SlowRuleChangeIT extends ServerStage {
    private static final Duration SESSION = Duration.ofSeconds(8);

    @Test
    void slowRuleChange_runsOnTheCallersThread_andLeasesStayValid() throws Exception {
        ZooKeeperClient client = opened(settings().sessionTimeout(SESSION).build());
        LockInternals held = new LockInternals(client, "/held", new MutexDriver(), LockOptions.defaults());
        LockInternals ruled = new LockInternals(client, "/ruled", new MutexDriver(), LockOptions.defaults());
        AtomicReference<Thread> ranOn = new AtomicReference<>();
        try (Lease lease = held.threadOwned().acquire()) {
            ruled.changeRule(rule -> {
                ranOn.set(Thread.currentThread());
                // If the engine waited for this, the lease would be LOST by then, for good.
                await().pollDelay(Duration.ofSeconds(11))
                        .atMost(Duration.ofSeconds(120))
                        .until(lease::isValid);
                return "slow".getBytes(StandardCharsets.UTF_8);
            });
        }
        assertThat(ranOn).hasValue(Thread.currentThread());
        assertThat(server.data("/ruled")).get().isEqualTo("slow".getBytes(StandardCharsets.UTF_8));
    }
}
