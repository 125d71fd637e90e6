// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.Held;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** ZooKeeper never removes a container that never had a child: an acquire that gives up has to do that. */
@Tag("H87")
class UnusedContainerIT extends ServerStage {
    private static final Duration LIMIT = Duration.ofSeconds(120);
    private FaultProxy proxy;
    private ZooKeeperClient client;

    @BeforeEach
    void connect() throws InterruptedException {
        proxy = proxy();
        client = client(proxy);
    }

    private void assertNothingIsLeft() {
        Soon.await().until(() -> {
            server.reapContainers();
            return !server.nodeExists(path);
        });
    }

    /** The path has three parts, all of which have to be made, from the top. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6})
    void acquireAbandonedDuringThePathsCreation_leavesNoContainer(int nth) throws Exception {
        Held reply = proxy.holdReply(RequestType.CREATE_CONTAINER, nth);
        CompletableFuture<Lease> wanted = new InterProcessMutex(client, path + "/b/c").acquireAsync();
        Soon.await().until(() -> reply.isReached() || wanted.isDone());
        wanted.cancel(false);
        reply.release();
        if (wanted.isCancelled()) {
            assertNothingIsLeft();
        } else {
            Soon.get(Soon.get(wanted).closeAsync()); // there were fewer requests
            assertNothingIsLeft();
        }
    }

    @Test
    void containerInUse_stays() throws Exception {
        Held reply = proxy.holdReply(RequestType.CREATE_CONTAINER, 1);
        CompletableFuture<Lease> wanted = new InterProcessMutex(client, path).acquireAsync();
        reply.awaitReached(LIMIT);
        try (ZooKeeperClient other = client();
                Lease used = new InterProcessMutex(other, path).acquire()) {
            wanted.cancel(false);
            reply.release();
            long before = server.requests().of(RequestType.MULTI);
            Soon.await().until(() -> server.requests().of(RequestType.MULTI) > before);
            used.verify();
        }
    }

    /** The path is removed whenever nobody has a node there, also between a request's look and its create. */
    @Test
    @Tag("H49")
    void constantlyReapedPath_failsNoRequest() throws Exception {
        AtomicBoolean enough = new AtomicBoolean();
        Workers workers = opened(new Workers());
        workers.start("reaper", () -> {
            while (!enough.get()) {
                server.reapContainers();
            }
        });
        InterProcessMutex mutex = new InterProcessMutex(client, path + "/reaped");
        long before = server.requests().of(RequestType.CREATE_CONTAINER);
        while (server.requests().of(RequestType.CREATE_CONTAINER) - before < 20) {
            mutex.acquire().close();
            mutex.tryAcquire(Duration.ofMinutes(1)).orElseThrow().close();
        }
        enough.set(true);
        workers.join(LIMIT);
    }
}
