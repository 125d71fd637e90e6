// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Many requests of two clients for one lock: each has its turn, in the order in which they were made, and none is
 * granted beside another. Requests for the lock and for its rival alternate, so that neighbours conflict whatever the
 * recipe is. If two requests for the lock conflict as well, and two for its rival, then two of each stand one behind
 * the other.
 */
public abstract class TurnsContract extends Stage {
    private static final int WAITERS = 8;
    private static final int THREADS = 4;
    private static final int ROUNDS = 10;

    /** Creates the suite; the test of a recipe extends it. */
    protected TurnsContract() {}

    @Test
    void waiters_areGrantedOneByOne_inTheOrderOfTheirRequests() throws InterruptedException {
        line().serve();
        scene.assertNothingLeft();
    }

    /** Two of them leave, one after the other: if one did, those around it might be of a kind, and hold together. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3, 5})
    void waitersThatLeave_letNobodyInBeforeItsTurn(int place) throws InterruptedException {
        QueuedRequests line = line();
        line.leave(place);
        line.leave(place);
        line.serve();
        scene.assertNothingLeft();
    }

    private QueuedRequests line() throws InterruptedException {
        boolean isExclusive = isExclusive(contenders.recipe.lock()) && isExclusive(contenders.recipe.rival());
        return QueuedRequests.of(scene, contenders.recipe, WAITERS, isExclusive ? 2 : 1);
    }

    @Test
    void threadsOfBothClients_neverMeetInside_andLoseNoCount() throws InterruptedException {
        int ofTheLock = threads(contenders.recipe.lock());
        int ofTheRival = threads(contenders.recipe.rival());
        Tally tally = new Tally();
        start(ofTheLock, scene.lock, tally);
        start(ofTheRival, scene.rival, tally);
        workers.join(Duration.ofSeconds(40));
        assertThat(tally.met).as("how often two met inside").hasValue(0);
        assertThat(tally.count).as("what they counted together").isEqualTo((ofTheLock + ofTheRival) * ROUNDS);
        scene.assertNothingLeft();
    }

    /** One of a kind whose holders may share. */
    private int threads(Recipe.Maker kind) throws InterruptedException {
        return isExclusive(kind) ? THREADS : 1;
    }

    private void start(int threads, InterProcessLock lock, Tally tally) {
        for (int thread = 0; thread < threads; thread++) {
            workers.start("counting " + thread, () -> {
                for (int round = 0; round < ROUNDS; round++) {
                    try (Lease lease = lock.acquire()) {
                        tally.add(lease);
                    }
                }
            });
        }
    }

    /** What only the lock protects. */
    private static final class Tally {
        final AtomicInteger met = new AtomicInteger();
        private final AtomicInteger inside = new AtomicInteger();
        int count;

        /** A round trip passes between reading and writing. */
        void add(Lease lease) throws InterruptedException {
            if (inside.incrementAndGet() > 1) {
                met.incrementAndGet();
            }
            int before = count;
            lease.verify();
            count = before + 1;
            inside.decrementAndGet();
        }
    }

    /**
     * Whether one client's lock of a kind keeps the other's out. Nobody else may be there. A lock that is its own rival
     * must.
     */
    private boolean isExclusive(Recipe.Maker kind) throws InterruptedException {
        if (contenders.recipe.lock().equals(contenders.recipe.rival())) {
            return true;
        }
        LockOptions options = LockOptions.defaults();
        Lease held = kind.make(contenders.client, scene.path, options).acquire();
        Optional<Lease> beside =
                kind.make(contenders.rivals, scene.path, options).tryAcquire();
        beside.ifPresent(Lease::close);
        held.close();
        scene.awaitNobody();
        return beside.isEmpty();
    }
}
