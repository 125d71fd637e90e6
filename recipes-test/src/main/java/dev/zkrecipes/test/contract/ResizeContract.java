// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.internal.Soon;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A semaphore whose limit is changed while it is in use. */
abstract class ResizeContract extends TwoSemaphores {

    /**
     * Changes the limit of the semaphore under test.
     *
     * @param with a client of the test
     * @param on the path of the semaphore
     * @param configured the number of permits with which the semaphore was created
     * @param limit the number of permits from now on
     * @throws InterruptedException if the thread is interrupted
     */
    protected abstract void resize(ZooKeeperClient with, String on, int configured, int limit)
            throws InterruptedException;

    private void resize(int limit) throws InterruptedException {
        resize(client, path, LIMIT, limit);
    }

    @Test
    void resizeUp_wakesFittingRequests() throws InterruptedException {
        Lease held = own.apply(LIMIT).acquire();
        CompletableFuture<Lease> first = others.apply(2).acquireAsync();
        awaitNodes(2);
        CompletableFuture<Lease> second = others.apply(3).acquireAsync();
        awaitNodes(3);
        resize(6);
        Lease lease = Soon.get(first);
        assertThat(own.apply(1).tryAcquire()).isEmpty();
        assertThat(second).isNotDone();
        resize(9);
        Soon.get(second).close();
        lease.close();
        held.close();
        awaitNodes(0);
    }

    @Test
    void resizeDown_keepsLeases_andEndsRequestsAboveTheLimit() throws InterruptedException {
        Lease held = own.apply(3).acquire();
        CompletableFuture<Lease> large = others.apply(4).acquireAsync();
        awaitNodes(2);
        CompletableFuture<Lease> small = others.apply(1).acquireAsync();
        awaitNodes(3);
        resize(2);
        assertThatThrownBy(() -> large.get(20, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(LockRefusedException.class)
                .hasMessageContaining(path);
        held.verify();
        assertThat(small).isNotDone();
        held.close();
        Soon.get(small).close();
        assertThatThrownBy(() -> own.apply(3).acquire()).isInstanceOf(LockRefusedException.class);
        awaitNodes(0);
    }
}
