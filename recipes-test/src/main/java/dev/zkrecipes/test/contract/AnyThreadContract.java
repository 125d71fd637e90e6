// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.test.RequestCounts;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A lock whose holds do not belong to a thread, but to the lock object or to nobody. */
abstract class AnyThreadContract extends Stage {
    @Test
    @Tag("H61")
    void lease_isClosedByAnyThread() throws InterruptedException {
        Lease lease = lock.acquire();
        workers.start("another", lease::close);
        workers.join(Duration.ofSeconds(20));
        scene.assertAcquired(false);
        lease.close();
        scene.assertNothingLeft();
    }

    @Test
    void acquireByTheHolder_isAnOrdinaryRequest() throws InterruptedException {
        Lease first = lock.acquire();
        RequestCounts before = contenders.proxy.requestsSeen();
        Optional<Lease> second = lock.tryAcquire();
        RequestCounts sent = contenders.proxy.requestsSeen().minus(before);
        assertThat(sent.total()).as(sent.toString()).isPositive();
        if (recipe().ownership() == Ownership.INSTANCE) {
            assertThat(second).isEmpty(); // a lock with no owner may have room for both
        }
        second.ifPresent(Lease::close);
        scene.assertHeldByThisThread(true);
        assertThat(scene.rival.tryAcquire()).isEmpty();
        first.close();
        scene.assertNothingLeft();
    }
}
