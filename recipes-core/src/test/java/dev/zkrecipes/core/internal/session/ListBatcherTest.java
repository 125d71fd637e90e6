// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.port.Ports;
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
        InterProcessLock lock = lock();
        for (int i = 1; i <= 3; i++) {
            var unused = lock.acquireAsync();
            scheduler.run();
            assertThat(lists).isEqualTo(i);
        }
    }
}
