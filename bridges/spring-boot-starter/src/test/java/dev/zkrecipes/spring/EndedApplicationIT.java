// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.internal.ChildJvms;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of the lock of an annotated method, and of one of the registry, when their process ends. */
@Tag("H153")
class EndedApplicationIT extends ServerStage {
    private static final Duration LIMIT = Duration.ofSeconds(120);
    private static final int LOOKS = 20;

    @TempDir
    private Path folder;

    private Process application;
    private InterProcessMutex ofMethod;
    private InterProcessMutex ofRegistry;

    @BeforeEach
    void start() throws InterruptedException {
        ZooKeeperClient rival = client();
        ofMethod = new InterProcessMutex(rival, "/orders");
        ofRegistry = new InterProcessMutex(rival, "/locks/integration/key");
        application = opened(new ChildJvms())
                .start(
                        List.of("-Dorg.slf4j.simpleLogger.defaultLogLevel=error"),
                        HoldingApplication.class,
                        server.connectString(),
                        folder.toString());
        Soon.await().atMost(LIMIT).until(() -> has("working") && holders(ofRegistry) == 1);
    }

    private static int holders(InterProcessMutex lock) throws InterruptedException {
        return (int) lock.participants().stream().filter(each -> each.holding()).count();
    }

    private boolean has(String name) {
        return Files.exists(folder.resolve(name));
    }

    @Test
    void sigterm_waitsForTheMethod_andFreesBothLocks_beforeTheProcessHasEnded() throws Exception {
        CompletableFuture<Boolean> nextCameAfterIt = ofMethod.acquireAsync().thenApply(lease -> has("shipped"));
        Soon.await().until(() -> ofMethod.participants().size() == 2);
        application.destroy();
        Soon.await().until(() -> has("closing"));
        for (int i = 0; i < LOOKS; i++) {
            assertThat(ofMethod.participants()).hasSize(2);
            assertThat(holders(ofRegistry)).isEqualTo(1);
        }
        assertThat(nextCameAfterIt).isNotDone();
        Files.createFile(folder.resolve("stop"));
        assertThat(Soon.get(nextCameAfterIt)).isTrue();
        assertThat(application.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS))
                .as("ended, beside the work under the lock of the registry")
                .isTrue();
        assertThat(ofRegistry.participants()).isEmpty();
    }

    @Test
    void kill_leavesBothLocksToTheEndOfTheSession() throws Exception {
        long session = ofMethod.participants().get(0).sessionId();
        application.destroyForcibly().waitFor();
        assertThat(holders(ofMethod) + holders(ofRegistry)).isEqualTo(2);
        assertThat(server.expireSession(session))
                .as("as the server does in a while")
                .isTrue();
        for (InterProcessMutex lock : List.of(ofMethod, ofRegistry)) {
            lock.tryAcquire(LIMIT).orElseThrow().close();
        }
        assertThat(has("shipped")).isFalse();
    }
}
