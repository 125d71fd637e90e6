// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/**
 * Requests of both clients behind a rival that holds. What happens is noted in the order in which it happens, and
 * compared after each step with what should have happened.
 */
final class QueuedRequests {
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
     * @param name what it asks for, and its place when the line was made
     * @param lock what it asks for
     * @param wanted can be cancelled
     * @param noted the same lease, as soon as the grant is noted
     */
    private record Turn(
            String name, InterProcessLock lock, CompletableFuture<Lease> wanted, CompletableFuture<Lease> noted) {}

    private QueuedRequests(Scene scene, boolean hasLocalOrder) {
        this.scene = scene;
        this.hasLocalOrder = hasLocalOrder;
        this.held = Soon.get(scene.rival.acquireAsync());
    }

    /**
     * Lines up that many requests: some neighbours for the lock under test, as many for its rival, then for the lock
     * again.
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

    /** Each request has a node, unless those of a client share one. */
    private void awaitAll() {
        if (!hasLocalOrder) {
            await().alias(waiting.size() + " requests behind the holder")
                    .until(() -> scene.firstQueue().size() == waiting.size() + 1);
        }
    }

    /** One that waits gives up. */
    void leave(int place) {
        Turn leaver = waiting.remove(place);
        assertThat(leaver.wanted.cancel(true))
                .as("%s, still waiting: %s", leaver.name, seen)
                .isTrue();
        awaitAll();
        check();
    }

    /** Has each holder give the lock back, until nobody is left. */
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

    /** The first one in the line; in local order, the first of either client, whichever is granted. */
    private Turn next() {
        List<Turn> first = hasLocalOrder ? firstOfEach() : waiting.subList(0, 1);
        assertThat(CompletableFuture.anyOf(first.stream().map(Turn::noted).toArray(CompletableFuture<?>[]::new)))
                .as("the grant to %s after %s", first.stream().map(Turn::name).toList(), seen)
                .succeedsWithin(SOON);
        return first.stream().filter(turn -> turn.noted.isDone()).findFirst().orElseThrow();
    }

    private List<Turn> firstOfEach() {
        return Stream.of(scene.lock, scene.rival)
                .flatMap(lock ->
                        waiting.stream().filter(turn -> turn.lock == lock).limit(1))
                .toList();
    }

    /**
     * Nobody gets in beside the holder, and nobody has got in: by the time a try is answered, its client has heard
     * everything that happened in the queue before.
     */
    private void check() {
        if (!waiting.isEmpty()) {
            assertThat(scene.lock.tryAcquire()).as("a try behind %s", seen).isEmpty();
            assertThat(scene.rival.tryAcquire()).as("a try behind %s", seen).isEmpty();
        }
        assertThat(seen).as("what happened, in this order").isEqualTo(expected);
    }
}
