// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.internal.Seed;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * All ways to request a lock, made by a thread that is interrupted before or during the call. A request that an
 * interrupt ends leaves nothing behind. A request that ignores the interrupt continues, and preserves the interrupt
 * status.
 */
public abstract class InterruptContract extends Stage {
    private static final String FLAVOUR = "dev.zkrecipes.test.contract.Flavour#";
    private static final int INTERRUPTS = 500;

    /** Creates the suite; the test of a recipe extends it. */
    protected InterruptContract() {}

    @ParameterizedTest
    @MethodSource(FLAVOUR + "interruptible")
    @Tag("H52")
    void interruptBefore_endsTheRequestBeforeAnythingIsSent(Flavour flavour) throws InterruptedException {
        scene.assertNothingLeft(); // a lock may still be sending its release in the background
        RequestCounts before = contenders.proxy.requestsSeen();
        Request request = Request.interrupted(workers, flavour, scene.lock);
        request.outcome().assertFailed(InterruptedException.class);
        request.outcome().assertInterrupted(false);
        assertThat(contenders.proxy.requestsSeen().minus(before).total()).isZero();
        scene.assertNothingLeft();
    }

    @ParameterizedTest
    @MethodSource(FLAVOUR + "uninterruptible")
    @Tag("H54")
    void interruptBefore_isKept_byUninterruptibleRequests(Flavour flavour) throws InterruptedException {
        Request request = Request.interrupted(workers, flavour, scene.lock);
        request.outcome().assertGranted();
        request.outcome().assertInterrupted(true);
        request.giveBack();
        scene.assertNothingLeft();
    }

    @ParameterizedTest
    @MethodSource(FLAVOUR + "interruptible")
    @Tag("H52")
    void interruptWhileWaiting_endsTheRequest(Flavour flavour) throws InterruptedException {
        Lease held = scene.rival.acquire();
        Request request = Request.of(workers, flavour, scene.lock);
        scene.awaitWaiting();
        request.interrupt();
        request.outcome().assertFailed(InterruptedException.class);
        request.outcome().assertInterrupted(false);
        scene.awaitOnlyTheRival();
        held.close();
        scene.assertNothingLeft();
    }

    @Test
    @Tag("H54")
    void interruptWhileWaiting_isKept_byAnUninterruptibleRequest() throws InterruptedException {
        Lease held = scene.rival.acquire();
        Request request = Request.of(workers, Flavour.JUC_LOCK, scene.lock);
        scene.awaitWaiting();
        List<String> queue = scene.nodes();
        request.interrupt();
        held.close();
        request.outcome().assertGranted();
        request.outcome().assertInterrupted(true);
        assertThat(queue).containsAll(scene.nodes());
        request.giveBack();
        scene.assertNothingLeft();
    }

    @Test
    @Tag("H40")
    @Tag("soak")
    void interruptsAtRandomTimes_leaveNoNode() throws InterruptedException {
        Random random = Seed.forTest("interruptsAtRandomTimes").random(0);
        AtomicInteger interrupted = new AtomicInteger();
        List<Flavour> flavours = Flavour.interruptible().toList();
        Thread asking = workers.start("asking", () -> {
            for (int i = 0; interrupted.get() < INTERRUPTS; i++) {
                try {
                    Optional<Runnable> hold = flavours.get(i % flavours.size()).ask(scene.lock, Duration.ofMinutes(1));
                    hold.orElseThrow().run();
                } catch (InterruptedException e) {
                    interrupted.incrementAndGet();
                }
            }
        });
        workers.start("rival", () -> {
            while (asking.isAlive()) {
                scene.rival.acquire().close();
            }
        });
        while (asking.isAlive()) {
            LockSupport.parkNanos(random.nextInt(2_000_000));
            asking.interrupt();
        }
        workers.join(Duration.ofSeconds(20));
        assertThat(interrupted).hasValueGreaterThanOrEqualTo(INTERRUPTS);
        // Many nodes may still have to be deleted. None disappears by itself, because its session is still alive.
        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(scene.nodes()).isEmpty());
        scene.assertNothingLeft();
    }
}
