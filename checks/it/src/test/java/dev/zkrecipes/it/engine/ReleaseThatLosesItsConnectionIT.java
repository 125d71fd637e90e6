// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.Held;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A release waits for its confirmation only as long as there is a connection that can bring it. */
@Tag("H86")
class ReleaseThatLosesItsConnectionIT extends ServerStage {
    private static final Duration LIMIT = Duration.ofSeconds(120);
    private static final String PATH = "/released";

    private ZooKeeperClient patient(FaultProxy proxy) throws InterruptedException {
        Duration minute = Duration.ofMinutes(1);
        return client(settings(proxy.connectString()).sessionTimeout(minute).requestTimeout(minute));
    }

    private static void assertEndsWithTheConnection(Runnable close, Held request, FaultProxy proxy)
            throws InterruptedException {
        CompletableFuture<Void> closing = CompletableFuture.runAsync(close, task -> new Thread(task).start());
        request.awaitReached(LIMIT);
        assertThat(closing).isNotDone();
        proxy.refuse();
        assertThat(closing).succeedsWithin(LIMIT);
    }

    @Test
    void close_endsWithTheConnection_andTheNodeGoesWithTheNextOne() throws Exception {
        FaultProxy proxy = proxy();
        ZooKeeperClient client = patient(proxy);
        Lease lease = Soon.get(new InterProcessMutex(client, PATH).acquireAsync());
        assertEndsWithTheConnection(lease::close, proxy.holdRequest(RequestType.DELETE, 1), proxy);
        assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(server.children(PATH)).hasSize(1);
        proxy.accept();
        Soon.await().until(() -> server.children(PATH).isEmpty());
    }

    @Test
    void closeOfTheClient_endsWithTheConnection() throws Exception {
        FaultProxy proxy = proxy();
        ZooKeeperClient client = patient(proxy);
        assertEndsWithTheConnection(client::close, proxy.holdRequest(RequestType.CLOSE_SESSION, 1), proxy);
    }
}
