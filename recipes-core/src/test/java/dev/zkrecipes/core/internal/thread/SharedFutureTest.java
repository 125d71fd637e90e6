// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A timer of the JDK keeps what it is to complete, and with what, until it is cancelled. */
@Tag("H95")
class SharedFutureTest {
    private static final int CALLS = 100;

    private final List<WeakReference<Object>> values = new ArrayList<>();

    private void limited(Consumer<CompletableFuture<Object>> source, Consumer<CompletableFuture<Object>> limited) {
        for (int i = 0; i < CALLS; i++) {
            CompletableFuture<Object> ending = new CompletableFuture<>();
            Object value = new Object();
            values.add(new WeakReference<>(value));
            CompletableFuture<Object> either =
                    SharedFuture.of(ending, Runnable::run).completeOnTimeout(value, 1, TimeUnit.DAYS);
            limited.accept(either);
            source.accept(ending);
            assertThat(either).isDone();
        }
    }

    private void assertNoTimerIsLeft() {
        Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> {
            System.gc();
            return values.stream().allMatch(value -> value.refersTo(null));
        });
    }

    @Test
    void timeLimit_leavesNoTimer_onceTheFutureHasEnded() {
        limited(ending -> ending.complete("value"), either -> {});
        assertNoTimerIsLeft();
    }

    @Test
    void timeLimit_leavesNoTimer_onceTheFutureHasFailed() {
        limited(ending -> ending.completeExceptionally(new IllegalStateException("failed")), either -> {});
        assertNoTimerIsLeft();
    }

    @Test
    void timeLimit_leavesNoTimer_onceItIsCancelled() {
        limited(ending -> {}, either -> assertThat(either.cancel(false)).isTrue());
        assertNoTimerIsLeft();
    }
}
