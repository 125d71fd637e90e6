// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.reads;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.port.Ports;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ListBatcherTest {
    private final ManualScheduler scheduler = new ManualScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler);
    private int lists;

    private InterProcessLock lock() {
        operations.show(names -> {
            lists++;
            return names;
        });
        ZooKeeperClient client = Ports.clientBuilder(states -> operations, scheduler)
                .callbackExecutor(Runnable::run)
                .build();
        return new LockInternals(client, "/locks/orders", new TestDriver("lock-"), LockOptions.defaults())
                .threadOwned();
    }

    @Test
    @Tag("H73")
    void simultaneousAcquires_shareOneList() {
        InterProcessLock lock = lock();
        List<CompletableFuture<Lease>> wanted =
                Stream.generate(lock::acquireAsync).limit(100).toList();
        scheduler.run();
        assertThat(lists).isEqualTo(1);
        assertThat(operations.nodes()).hasSize(100);
        assertThat(wanted.stream().filter(CompletableFuture::isDone)).hasSize(1);
    }

    @Test
    void laterAcquire_hasAListOfItsOwn() {
        operations.add("00000000000000000000000000000000-lock-0000000000"); // behind somebody else
        InterProcessLock lock = lock();
        for (int i = 1; i <= 3; i++) {
            var unused = lock.acquireAsync();
            scheduler.run();
            assertThat(lists).isEqualTo(i);
        }
    }

    /** As when ten thousand creates are answered one after the other, each before the list for the one before. */
    @Test
    @Tag("H73")
    @Tag("H77")
    void listsThatAreAnsweredSlowly_doNotPileUp() {
        InterProcessLock lock = lock();
        operations.delayAnswersOf(Request.LIST, Duration.ofMillis(10));
        List<CompletableFuture<Lease>> wanted = new ArrayList<>();
        for (int i = 0; i < 3 * ListBatcher.MOST_UNDER_WAY; i++) {
            wanted.add(lock.acquireAsync());
            scheduler.run();
        }
        assertThat(lists).isEqualTo(ListBatcher.MOST_UNDER_WAY);
        scheduler.advance(Duration.ofMillis(10));
        scheduler.advance(Duration.ofMillis(10));
        assertThat(lists).isBetween(ListBatcher.MOST_UNDER_WAY + 1, 2 * ListBatcher.MOST_UNDER_WAY);
        for (CompletableFuture<Lease> next : wanted) {
            var unused = next.join().closeAsync();
            scheduler.advance(Duration.ofMillis(20));
        }
        assertThat(operations.nodes()).isEmpty();
    }
}
