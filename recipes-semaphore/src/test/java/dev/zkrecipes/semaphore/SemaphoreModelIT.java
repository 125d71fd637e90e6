// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.semaphore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.test.internal.Seed;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A semaphore behaves like a list of requests, one after the other: it grants each one that fits, and no other. */
class SemaphoreModelIT extends ServerStage {
    private static final String PATH = "/semaphores/model";
    private static final int CONFIGURED = 4;
    private static final int MOST = 6;
    private static final int STEPS = 250;

    private static final class Request {
        private final int permits;
        private final CompletableFuture<Lease> answer;
        private boolean held;

        Request(int permits, CompletableFuture<Lease> answer) {
            this.permits = permits;
            this.answer = answer;
        }
    }

    private final Random random = Seed.forTest("SemaphoreModelIT").random(0);
    private final List<Request> queue = new ArrayList<>();
    private final List<InterProcessSemaphore> semaphores = new ArrayList<>();
    private int limit = CONFIGURED;

    @BeforeEach
    void connect() throws InterruptedException {
        for (int i = 0; i < 2; i++) {
            semaphores.add(new InterProcessSemaphore(client(), PATH, CONFIGURED));
        }
    }

    @Test
    @Tag("H22")
    void requestsReturnsLeavesAndResizes_inAnyOrder_grantExactlyThoseThatFit() throws Exception {
        for (int i = 0; i < STEPS; i++) {
            String step = step();
            settle(step);
            int nodes = queue.size();
            Soon.await().until(() -> server.children(PATH).size() == nodes);
            if (permits(true) <= limit) {
                assertThat(any().availablePermits()).as(step).isEqualTo(limit - permits(true));
                assertThat(any().queueLength()).as(step).isEqualTo(count(false));
            }
        }
        queue.stream().filter(request -> !request.held).forEach(request -> request.answer.cancel(true));
        queue.stream()
                .filter(request -> request.held)
                .forEach(request -> request.answer.join().close());
        Soon.await().until(() -> server.children(PATH).isEmpty());
        // The server's side of a watch on the semaphore itself stays, one for each session.
        assertThat(server.watchCount()).isLessThanOrEqualTo(semaphores.size());
    }

    private InterProcessSemaphore any() {
        return semaphores.get(random.nextInt(semaphores.size()));
    }

    private int permits(boolean held) {
        return queue.stream()
                .filter(request -> request.held == held)
                .mapToInt(request -> request.permits)
                .sum();
    }

    private int count(boolean held) {
        return (int) queue.stream().filter(request -> request.held == held).count();
    }

    private Request any(boolean held) {
        List<Request> some =
                queue.stream().filter(request -> request.held == held).toList();
        return some.get(random.nextInt(some.size()));
    }

    private String step() throws InterruptedException {
        int kind = random.nextInt(10);
        if (kind < 5 && count(false) < 5) {
            int permits = 1 + random.nextInt(MOST);
            int before = queue.size();
            Request request = new Request(permits, any().acquireAsync(permits));
            queue.add(request);
            // So that the next one stands behind it.
            Soon.await()
                    .until(() ->
                            request.answer.isDone() || server.children(PATH).size() == before + 1);
            return "asked for " + permits;
        } else if (kind == 5 && count(false) > 0) {
            Request leaving = any(false);
            leaving.answer.cancel(true);
            queue.remove(leaving);
            return "one that asked for " + leaving.permits + " left";
        } else if (kind == 6) {
            limit = 1 + random.nextInt(MOST);
            any().resize(limit);
            return "resized to " + limit;
        } else if (count(true) > 0) {
            Request returned = any(true);
            returned.answer.join().close();
            queue.remove(returned);
            return returned.permits + " returned";
        }
        return "nothing";
    }

    /** Grants in the model what the rule grants, and expects the same of the semaphore. */
    private void settle(String step) {
        int sum = 0;
        for (Iterator<Request> next = queue.iterator(); next.hasNext(); ) {
            Request request = next.next();
            if (!request.held && request.permits > limit) {
                assertThat(request.answer)
                        .as("%s; refused under %s: %s", step, limit, request.permits)
                        .failsWithin(Duration.ofSeconds(120))
                        .withThrowableThat()
                        .withCauseInstanceOf(LockRefusedException.class);
                next.remove();
                continue;
            }
            sum += request.permits;
            if (!request.held && sum <= limit) {
                assertThat(request.answer)
                        .as("%s; let in under %s: %s", step, limit, request.permits)
                        .succeedsWithin(Duration.ofSeconds(120));
                request.held = true;
            }
        }
        assertThat(queue.stream().filter(request -> !request.held).map(request -> request.answer))
                .as("%s; waiting under %s", step, limit)
                .noneMatch(CompletableFuture::isDone);
        assertThat(queue.stream().filter(request -> request.held).map(request -> request.answer.join()))
                .as("%s; holding under %s", step, limit)
                .allMatch(Lease::isValid);
    }
}
