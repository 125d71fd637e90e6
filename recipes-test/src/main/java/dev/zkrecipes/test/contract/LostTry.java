// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockConnectionException;

/**
 * A try whose session the server ended meanwhile.
 *
 * @param step which of its requests was not answered yet
 * @param own its clients
 * @param scene its path
 * @param lost the session
 * @param request the try
 */
record LostTry(Step step, Contenders own, Scene scene, long lost, Request request) {

    /** Once the client has its next session. */
    void assertNoLeaseThatClaimsToBeValid() throws InterruptedException {
        own.awaitSessionAfter(lost);
        Outcome outcome = request.outcome();
        assertThat(scene.lock.isAcquiredInThisProcess())
                .as("%s at %s", outcome, step)
                .isFalse();
        if (outcome.ending() == Outcome.Ending.GRANTED) {
            request.giveBackLost();
        } else {
            outcome.assertFailed(LockConnectionException.class, scene.path);
        }
        scene.assertPathIsFree();
    }
}
