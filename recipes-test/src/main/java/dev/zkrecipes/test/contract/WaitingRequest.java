// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.test.internal.Workers;
import java.util.ArrayList;
import java.util.List;

/**
 * A request that waits for a rival.
 *
 * @param scene its own path
 * @param held what the rival holds
 * @param request what waits for it
 */
record WaitingRequest(Scene scene, Lease held, Request request) {

    /** One of each flavour that waits, all watching when this returns. */
    static List<WaitingRequest> all(Contenders contenders, Workers workers, LockOptions options)
            throws InterruptedException {
        List<WaitingRequest> waiters = new ArrayList<>();
        for (Flavour flavour : Flavour.waiting().toList()) {
            Scene scene = Scene.of(contenders, options);
            Lease held = scene.rival.acquire();
            waiters.add(new WaitingRequest(scene, held, Request.of(workers, flavour, scene.lock)));
        }
        waiters.forEach(waiter -> waiter.scene.awaitWaiting());
        return waiters;
    }
}
