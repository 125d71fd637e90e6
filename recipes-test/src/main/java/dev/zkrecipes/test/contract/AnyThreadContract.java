// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What all locks have in common that do not belong to a thread. */
abstract class AnyThreadContract extends Stage {
    AnyThreadContract() {}

    @Test
    @Tag("H61")
    void lease_isClosedByAnyThread() throws InterruptedException {
        Lease lease = scene.lock.acquire();
        workers.start("another", lease::close);
        workers.join(Duration.ofSeconds(20));
        assertThat(scene.lock.isAcquiredInThisProcess()).isFalse();
        lease.close();
        scene.assertNothingLeft();
    }
}
