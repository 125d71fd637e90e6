// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.internal;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.assertj.core.api.Assertions;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/**
 * Waits for something that has happened already or is about to happen. It checks at once and then often, while
 * Awaitility checks every 100 ms by default.
 */
public final class Soon {
    private static final Duration LIMIT = Duration.ofSeconds(10);

    private Soon() {}

    /** Begins a wait that checks every 5 ms, for 10 s at most, or longer on a {@linkplain MachineLoad busy machine}. */
    public static ConditionFactory await() {
        return Awaitility.await()
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(5))
                .atMost(limit());
    }

    /**
     * Returns the value of a future that has completed or is about to complete.
     *
     * @throws AssertionError if the future fails, or takes longer than {@link #await} waits
     */
    @CanIgnoreReturnValue
    public static <T> T get(CompletionStage<T> future) {
        CompletableFuture<T> waitedFor = future.toCompletableFuture();
        Assertions.assertThat(waitedFor).succeedsWithin(limit());
        return waitedFor.join();
    }

    private static Duration limit() {
        return MachineLoad.stretched(LIMIT);
    }
}
