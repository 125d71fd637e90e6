// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.test.RequestCounts;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A lock that belongs to the instance: {@link Ownership#INSTANCE}. */
public abstract class InstanceOwnedContract extends Stage {

    /** For the test of a recipe. */
    protected InstanceOwnedContract() {}

    @Test
    void acquireByTheHolder_isARequestLikeAnyOther() throws InterruptedException {
        Lease first = scene.lock.acquire();
        RequestCounts before = contenders.proxy.requestsSeen();
        assertThat(scene.lock.tryAcquire()).isEmpty();
        RequestCounts sent = contenders.proxy.requestsSeen().minus(before);
        assertThat(sent.total()).as(sent.toString()).isPositive();
        assertThat(scene.lock.isHeldByCurrentThread()).isTrue();
        assertThat(scene.rival.tryAcquire()).isEmpty();
        first.close();
        scene.assertNothingLeft();
    }

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
