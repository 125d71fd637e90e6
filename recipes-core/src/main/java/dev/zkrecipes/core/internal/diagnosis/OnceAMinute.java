// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.diagnosis;

import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.time.Duration;

/** Tells what is worth a line in the log: a text that has changed, or was logged a minute ago. */
final class OnceAMinute {
    private static final long MINUTE = Duration.ofMinutes(1).toNanos();

    private final EngineScheduler scheduler;
    private String logged = "";
    private long loggedAt;

    OnceAMinute(EngineScheduler scheduler) {
        this.scheduler = scheduler;
    }

    /** Whether to log it now; if so, it counts as logged. */
    boolean isNews(String text) {
        long now = scheduler.nanoTime();
        boolean isNews = !logged.equals(text) || now - loggedAt >= MINUTE;
        if (isNews) {
            logged = text;
            loggedAt = now;
        }
        return isNews;
    }

    /** Things went well meanwhile. */
    void forget() {
        logged = "";
    }
}
