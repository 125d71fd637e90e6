// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.test.RequestCounts;
import org.junit.jupiter.api.Test;

/** A lock that belongs to the instance: {@link Ownership#INSTANCE}. */
abstract class InstanceOwnedContract extends AnyThreadContract {

    @Test
    void acquireByTheHolder_isAnOrdinaryRequest() throws InterruptedException {
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
}
