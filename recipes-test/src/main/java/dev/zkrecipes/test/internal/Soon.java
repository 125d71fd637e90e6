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
 * Waits for something that has happened already or is about to: checks at once and often; Awaitility checks every 100
 * ms.
 */
public final class Soon {
    private static final Duration LIMIT = Duration.ofSeconds(10);

    private Soon() {}

    /** Begins a wait of at most 10 s, or longer on a {@linkplain MachineLoad busy machine}, that looks every 5 ms. */
    public static ConditionFactory await() {
        return Awaitility.await()
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(5))
                .atMost(limit());
    }

    /**
     * Returns the value of a future that is complete or about to be.
     *
     * @throws AssertionError if it fails, or takes longer than {@link #await} waits
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
