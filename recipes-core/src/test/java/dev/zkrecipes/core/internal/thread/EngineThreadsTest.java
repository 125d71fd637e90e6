// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class EngineThreadsTest {

    @Test
    @SuppressWarnings("ThreadPriorityCheck") // that it does not matter is the test
    void engineThread_isADaemonOfNormalPriority_whateverMakesIt() throws Exception {
        CompletableFuture<Thread> made = new CompletableFuture<>();
        Thread maker = new Thread(() -> made.complete(EngineThreads.engine(() -> {})));
        maker.setPriority(Thread.MIN_PRIORITY);
        maker.setDaemon(false);
        maker.start();
        Thread engine = made.get(120, TimeUnit.SECONDS);
        assertThat(engine.getName()).isEqualTo("zkrecipes-engine-0");
        assertThat(engine.isDaemon()).isTrue();
        assertThat(engine.getPriority()).isEqualTo(Thread.NORM_PRIORITY);
    }
}
