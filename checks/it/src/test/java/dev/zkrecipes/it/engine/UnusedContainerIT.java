// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The path of a lock is a container, which the server removes whenever it has no child left. */
class UnusedContainerIT extends ServerStage {
    /** It may do so between a request's look and its create. */
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
        InterProcessMutex mutex = new InterProcessMutex(client(), path + "/reaped");
        long before = server.requests().of(RequestType.CREATE_CONTAINER);
        while (server.requests().of(RequestType.CREATE_CONTAINER) - before < 20) {
            mutex.acquire().close();
            mutex.tryAcquire(Duration.ofMinutes(1)).orElseThrow().close();
        }
        enough.set(true);
        workers.join(Duration.ofSeconds(120));
    }
}
