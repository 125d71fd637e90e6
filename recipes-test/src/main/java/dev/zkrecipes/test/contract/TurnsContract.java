// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Many requests of two clients for one lock. Each is granted in its turn, in the order of the requests, and none is
 * granted beside another. Requests for the lock and for its rival alternate, so that neighbours conflict whatever the
 * recipe is. If both the lock and its rival are exclusive, two requests for each are made in a row.
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

    /**
     * Two neighbours leave, one after the other. If only one left, the requests around it might be of the same kind and
     * hold together.
     */
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

    /**
     * Returns the number of threads for a kind of lock: only one if its holders may share the lock, because two of them
     * would meet.
     */
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

    /** A counter that only the lock protects. */
    private static final class Tally {
        final AtomicInteger met = new AtomicInteger();
        private final AtomicInteger inside = new AtomicInteger();
        int count;

        /** Adds one, with a round trip to the server between the read and the write. */
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
     * Whether a lock of this kind, held by one client, excludes the other client. Nobody else may use the path
     * meanwhile. A lock that is its own rival must be exclusive.
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

    /**
     * Requests of both clients behind a rival that holds the lock. Events are recorded in the order in which they
     * happen, and after each step compared with the expected events.
     */
    private static final class QueuedRequests {
        private static final Duration SOON = Duration.ofSeconds(10);

        private final Scene scene;
        private final boolean hasLocalOrder;
        private final Lease held;
        private final List<Turn> waiting = new ArrayList<>();

        private final List<String> seen = Collections.synchronizedList(new ArrayList<>());
        private final List<String> expected = new ArrayList<>();

        /**
         * A request.
         *
         * @param name what it requests, and its original place in the line
         * @param lock the lock that it requests
         * @param wanted the future of the request, which can be cancelled
         * @param noted completes with the same lease once the grant has been recorded
         */
        private record Turn(
                String name, InterProcessLock lock, CompletableFuture<Lease> wanted, CompletableFuture<Lease> noted) {}

        private QueuedRequests(Scene scene, boolean hasLocalOrder) {
            this.scene = scene;
            this.hasLocalOrder = hasLocalOrder;
            this.held = Soon.get(scene.rival.acquireAsync());
        }

        /**
         * Lines up this number of requests: some neighbours for the lock under test, as many for its rival, then
         * again for the lock, and so on.
         */
        static QueuedRequests of(Scene scene, Recipe recipe, int length, int neighbours) {
            QueuedRequests line = new QueuedRequests(scene, recipe.localHandoffs());
            for (int place = 0; place < length; place++) {
                boolean isRival = place / neighbours % 2 == 1;
                line.join((isRival ? "rival " : "lock ") + place, isRival ? scene.rival : scene.lock);
            }
            line.check();
            return line;
        }

        private void join(String name, InterProcessLock lock) {
            CompletableFuture<Lease> wanted = lock.acquireAsync();
            CompletableFuture<Lease> noted = wanted.thenApply(lease -> {
                seen.add(granted(name));
                return lease;
            });
            waiting.add(new Turn(name, lock, wanted, noted));
            awaitAll();
        }

        private static String granted(String name) {
            return name + " is granted";
        }

        /**
         * Waits until each request has its node. Requests of one client that share a node cannot be counted in this
         * way.
         */
        private void awaitAll() {
            if (!hasLocalOrder) {
                await().alias(waiting.size() + " requests behind the holder")
                        .until(() -> scene.firstQueue().size() == waiting.size() + 1);
            }
        }

        /** Makes a waiting request give up. */
        void leave(int place) {
            Turn leaver = waiting.remove(place);
            assertThat(leaver.wanted.cancel(true))
                    .as("%s, still waiting: %s", leaver.name, seen)
                    .isTrue();
            awaitAll();
            check();
        }

        /** Makes each holder release the lock, until no request is left. */
        void serve() {
            Lease holding = held;
            String holder = "the first";
            while (!waiting.isEmpty()) {
                giveBack(holder, holding);
                Turn next = next();
                waiting.remove(next);
                expected.add(granted(next.name));
                check();
                holder = next.name;
                holding = next.noted.join();
            }
            giveBack(holder, holding);
            check();
        }

        private void giveBack(String holder, Lease holding) {
            String what = holder + " gives back";
            expected.add(what);
            seen.add(what);
            holding.close();
        }

        /**
         * Waits for the next grant, which must go to the first request in the line. With local hand-overs, it may go
         * to the first request of either client.
         */
        private Turn next() {
            List<Turn> first = hasLocalOrder ? firstOfEach() : waiting.subList(0, 1);
            assertThat(CompletableFuture.anyOf(first.stream().map(Turn::noted).toArray(CompletableFuture<?>[]::new)))
                    .as(
                            "the grant to %s after %s",
                            first.stream().map(Turn::name).toList(), seen)
                    .succeedsWithin(SOON);
            return first.stream()
                    .filter(turn -> turn.noted.isDone())
                    .findFirst()
                    .orElseThrow();
        }

        private List<Turn> firstOfEach() {
            return Stream.of(scene.lock, scene.rival)
                    .flatMap(lock ->
                            waiting.stream().filter(turn -> turn.lock == lock).limit(1))
                    .toList();
        }

        /**
         * Checks that nobody gets the lock beside the holder, and that nobody has got it: when a try is answered, its
         * client has been notified of everything that happened in the queue before.
         */
        private void check() {
            if (!waiting.isEmpty()) {
                assertThat(scene.lock.tryAcquire()).as("a try behind %s", seen).isEmpty();
                assertThat(scene.rival.tryAcquire()).as("a try behind %s", seen).isEmpty();
            }
            assertThat(seen).as("what happened, in this order").isEqualTo(expected);
        }
    }
}
