// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.internal.ClientScene;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.hold.HeldNode;
import dev.zkrecipes.core.internal.hold.Hold;
import dev.zkrecipes.core.internal.hold.LockDataTable;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class DeadOwnerCheckTest extends ClientScene {
    private static final String PATH = "/locks/orders";

    private final LockDataTable holds = EngineClient.of(client).holds();
    private final InterProcessLock lock = lock(PATH);

    /** What is still to be told of the locks of a dead thread; asking counts as telling. */
    private List<String> toTell() {
        return holds.ofThreads().iterator().next().notYetWarnedOf(Set.of(PATH));
    }

    private void die(String name, Consumer<Lease> last) throws InterruptedException {
        Thread forgetful = new Thread(
                () -> {
                    try {
                        last.accept(lock.acquire());
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                },
                name);
        forgetful.start();
        forgetful.join();
        assertThat(holds.ofThreads()).hasSize(1);
    }

    private CompletableFuture<Lease> waiting(InterProcessLock asked) {
        CompletableFuture<Lease> wanted = asked.acquireAsync();
        scheduler.run();
        return wanted;
    }

    @Test
    @Tag("H44")
    void lockOfADeadThread_isWarnedOf_whileSomebodyWaitsForIt() throws InterruptedException {
        die("forgetful", lease -> {});
        List<CompletableFuture<Lease>> requests =
                Stream.generate(() -> waiting(lock(PATH))).limit(2).toList();
        scheduler.advance(Duration.ofSeconds(10));
        assertThat(toTell()).as("told already").isEmpty();
        assertThat(requests).noneMatch(CompletableFuture::isDone);
    }

    @Test
    @Tag("H44")
    void lockOfADeadThread_isNotWarnedOfWhileNobodyWaitsForIt() throws InterruptedException {
        die("forgetful", lease -> {});
        operations.add("0123456789abcdef0123456789abcdef-lock-0000000000"); // on every path
        CompletableFuture<Lease> other = waiting(lock("/locks/others"));
        scheduler.advance(Duration.ofSeconds(10));
        assertThat(other).isNotDone();
        assertThat(toTell()).containsExactly(PATH);
        assertThat(toTell()).as("once").isEmpty();
    }

    /** The look comes with the beat of the session: of its own a request has only the timer that ends its patience. */
    @Test
    @Tag("H78")
    void requestsThatWait_setNoTimersForTheLook() throws InterruptedException {
        lock.acquire();
        waiting(lock(PATH));
        int before = scheduler.delays().size();
        List<CompletableFuture<Lease>> requests =
                Stream.generate(() -> waiting(lock(PATH))).limit(200).toList();
        assertThat(requests).noneMatch(CompletableFuture::isDone);
        assertThat(scheduler.delays()).hasSize(before + requests.size());
    }

    @Test
    @Tag("H78")
    void recordOfADeadThreadWithLostHoldsOnly_isForgotten() throws InterruptedException {
        die("forgetful", lease -> {
            ((HeldNode) ((Hold) lease).grant().first()).lose("the test says so");
            scheduler.run();
        });
        operations.add("0123456789abcdef0123456789abcdef-lock-0000000000");
        CompletableFuture<Lease> wanted = waiting(lock(PATH));
        scheduler.advance(Duration.ofSeconds(2));
        assertThat(wanted).isNotDone();
        assertThat(holds.ofThreads()).isEmpty();
    }
}
