// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.internal.ServerStage;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A waiter goes on watching a node whose data somebody changes. */
class MutexQueueIT extends ServerStage {
    @Test
    @Tag("H38")
    void predecessorWithChangedData_isStillWatched_andWakesNoWaiter() throws Exception {
        ZooKeeperClient client = client();
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        Lease held = mutex.acquire();
        String holder = path + "/" + server.children(path).get(0);
        CompletableFuture<Lease> wanted = mutex.acquireAsync();
        await().until(() -> !server.childWatchers(holder).isEmpty());
        long events = server.eventsSent();
        for (int change = 0; change < 3; change++) {
            server.setData(holder, new byte[] {1});
        }
        assertThat(server.eventsSent()).isEqualTo(events);
        assertThat(server.childWatchers(holder)).hasSize(1);
        held.close();
        wanted.get(120, TimeUnit.SECONDS).close();
    }
}
