// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.Ports;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What becomes of those who wait for a session if no handle can be opened. */
class OpenedSessionsTest {
    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);

    private final ManualScheduler scheduler = new ManualScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler);
    private final List<Consumer<State>> opened = new ArrayList<>();
    private Throwable failure;
    private final ZooKeeperClient client = Ports.clientBuilder(
                    states -> {
                        if (failure instanceof Error error) {
                            throw error;
                        } else if (failure instanceof RuntimeException exception) {
                            throw exception;
                        }
                        opened.add(states);
                        return operations;
                    },
                    scheduler)
            .callbackExecutor(Runnable::run)
            .retryDelay(FIRST_PAUSE, Duration.ofSeconds(1))
            .build();

    private CompletableFuture<Lease> acquire() {
        CompletableFuture<Lease> wanted = new LockInternals(
                        client, "/locks/orders", new MutexDriver(), LockOptions.defaults())
                .threadOwned()
                .acquireAsync();
        scheduler.advance(Duration.ofSeconds(3));
        return wanted;
    }

    @Test
    void temporaryError_isRetried() {
        failure = new IllegalStateException("no name service");
        CompletableFuture<Lease> wanted = acquire();
        assertThat(wanted).isNotDone();
        failure = null;
        scheduler.advance(Duration.ofSeconds(3));
        assertThat(wanted).isCompleted();
    }

    @Test
    void afterASession_thePausesAreShortAgain() {
        failure = new IllegalStateException("no name service");
        scheduler.advance(Duration.ofSeconds(10));
        failure = null;
        scheduler.advance(Duration.ofSeconds(3));
        assertThat(opened).hasSize(1);
        failure = new IllegalStateException("no name service");
        scheduler.execute(() -> opened.get(0).accept(State.EXPIRED));
        scheduler.run();
        failure = null;
        scheduler.advance(FIRST_PAUSE);
        assertThat(opened).hasSize(2);
    }

    @Test
    @Tag("H104")
    void sessionWithRefusedCredentials_isFollowedByAnother_onlyWhenSomebodyAsks() {
        scheduler.advance(Duration.ofSeconds(1));
        assertThat(opened).hasSize(1);
        scheduler.execute(() -> opened.get(0).accept(State.AUTH_FAILED));
        scheduler.advance(Duration.ofMinutes(10));
        assertThat(opened).hasSize(1);
        assertThat(acquire()).isCompleted();
        assertThat(opened).hasSize(2);
    }
}
