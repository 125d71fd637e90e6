// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.client;

import dev.zkrecipes.core.internal.thread.Completion;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What depends on a client, such as its elections. They end before the leases do, so that they can release what they
 * hold in order. Methods may be called from any thread.
 */
final class Dependants {
    private static final Logger log = LoggerFactory.getLogger(Dependants.class);

    private final EngineScheduler scheduler;
    private final Duration closeTimeout;
    private final BooleanSupplier isOver; // whether the client is ending by now
    private final Set<Dependant> dependants = ConcurrentHashMap.newKeySet();
    private volatile boolean refuses;

    /**
     * {@code end} begins to end the dependant, and returns a future that completes when it has ended. {@code id} tells
     * dependants apart that have the same path and end.
     */
    private record Dependant(String path, Supplier<CompletableFuture<Void>> end, Object id) {}

    Dependants(EngineScheduler scheduler, Duration closeTimeout, BooleanSupplier isOver) {
        this.scheduler = scheduler;
        this.closeTimeout = closeTimeout;
        this.isOver = isOver;
    }

    /** Adds a dependant; the returned task removes it. Returns empty if none can be added any more. */
    Optional<Runnable> add(String path, Supplier<CompletableFuture<Void>> end) {
        Dependant added = new Dependant(path, end, new Object());
        dependants.add(added);
        // Checked after the addition, so that a close either finds the added dependant or is seen here.
        if (refuses) {
            dependants.remove(added);
            return Optional.empty();
        }
        return Optional.of(() -> dependants.remove(added));
    }

    /** Refuses all dependants from now on. */
    void refuse() {
        refuses = true;
    }

    /**
     * Ends all dependants. Returns a future that completes when they have ended, or the close time-out has elapsed.
     *
     * <p>If two threads close the client, both do this, and the client ends when the first of them need not wait any
     * longer. The second thread may be doing the very work that the first one waits for, and that work cannot end
     * before the second thread returns from its close.
     */
    CompletableFuture<Void> end() {
        refuse();
        Map<Dependant, CompletableFuture<Void>> ends = new LinkedHashMap<>();
        for (Dependant each : isOver.getAsBoolean() ? List.<Dependant>of() : List.copyOf(dependants)) {
            try {
                ends.put(each, Objects.requireNonNull(each.end().get(), "it has returned no future"));
            } catch (Throwable t) { // code of a recipe, which must not keep the client from ending
                log.warn("What stands on the lock {} could not be ended before its client is closed.", each.path(), t);
            }
        }
        CompletableFuture<Void> over = CompletableFuture.allOf(ends.values().toArray(CompletableFuture<?>[]::new));
        if (over.isDone()) {
            return over;
        }
        CompletableFuture<Void> limited = new CompletableFuture<>();
        Timer limit = scheduler.schedule(closeTimeout, () -> {
            ends.values().removeIf(CompletableFuture::isDone);
            // The last one may have ended just now, before this timer was cancelled.
            if (!ends.isEmpty() && !isOver.getAsBoolean()) {
                log.warn(
                        "The lock client is being closed, and what stands on {} has not ended its work within {}: it may"
                                + " still be at work while others have its locks. Let it end sooner, or raise closeTimeout.",
                        ends.keySet().stream().map(Dependant::path).toList(),
                        closeTimeout);
            }
            limited.complete(null);
        });
        Completion.on(over, (done, failure) -> {
            limit.cancel();
            limited.complete(null);
        });
        return limited;
    }
}
