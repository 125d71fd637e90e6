// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.diagnosis;

import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.time.Duration;

/**
 * Limits the log to one line a minute as long as the text stays the same; a new text is logged at once. Confined to
 * the engine thread.
 */
final class OnceAMinute {
    private static final long MINUTE = Duration.ofMinutes(1).toNanos();

    private final EngineScheduler scheduler;
    private String logged = ""; // the last text in the log; empty if there is none
    private long loggedAt;

    OnceAMinute(EngineScheduler scheduler) {
        this.scheduler = scheduler;
    }

    /** Whether to log the text now. If true, the text counts as logged. */
    boolean isNews(String text) {
        long now = scheduler.nanoTime();
        boolean isNews = !logged.equals(text) || now - loggedAt >= MINUTE;
        if (isNews) {
            logged = text;
            loggedAt = now;
        }
        return isNews;
    }

    /**
     * Forgets the last text, because the trouble has passed. The next text is logged at once, even if it is the same.
     */
    void forget() {
        logged = "";
    }
}
