// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Exceptions of drivers and listeners are reported, leave nothing behind, and affect no one else. */
class MutexCallbackIT extends ServerStage {
    private ZooKeeperClient client;

    @BeforeEach
    void connect() throws Exception {
        client = client();
        new InterProcessMutex(client, path).acquire().close();
    }

    @Test
    @Tag("H45")
    void throwingListener_doesNotStopTheOthers() throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        Lease lease = mutex.acquire();
        AtomicInteger told = new AtomicInteger();
        CompletableFuture<Lease> next = mutex.acquireAsync();
        awaitNodes(2);
        List<CompletableFuture<?>> dependents = new ArrayList<>();
        for (Throwable failure : List.of(new IllegalStateException("broken"), new StackOverflowError())) {
            client.addConnectionListener(state -> sneak(failure));
            lease.onLost(() -> sneak(failure));
            dependents.add(lease.ended().thenRun(() -> sneak(failure)).toCompletableFuture());
            dependents.add(next.whenComplete((granted, refused) -> sneak(failure)));
        }
        client.addConnectionListener(state -> told.incrementAndGet());
        CompletableFuture<Void> lost = new CompletableFuture<>();
        lease.onLost(() -> lost.complete(null));

        expire(client);
        Lease granted = next.get(120, TimeUnit.SECONDS);
        Soon.get(lost);
        await().until(() -> told.get() >= 2); // at least that it is expired, and connected
        await().until(() -> dependents.stream().allMatch(CompletableFuture::isCompletedExceptionally));
        lease.close();
        granted.verify();
        granted.close();
        assertThat(server.children(path)).isEmpty();
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneak(Throwable failure) throws T {
        throw (T) failure;
    }
}
