// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.test.RequestCounts;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A lock whose holds belong to no thread: {@link Ownership#NOBODY}. */
abstract class UnownedContract extends AnyThreadContract {

    @Test
    void acquireByTheHolder_isAnOrdinaryRequest() throws InterruptedException {
        Lease first = scene.lock.acquire();
        RequestCounts before = contenders.proxy.requestsSeen();
        Optional<Lease> second = scene.lock.tryAcquire(); // there may be room for both
        RequestCounts sent = contenders.proxy.requestsSeen().minus(before);
        assertThat(sent.total()).as(sent.toString()).isPositive();
        second.ifPresent(Lease::close);
        assertThat(scene.lock.isHeldByCurrentThread()).isTrue();
        assertThat(scene.rival.tryAcquire()).isEmpty();
        first.close();
        scene.assertNothingLeft();
    }
}
