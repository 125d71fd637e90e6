// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.handle;

import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Notices that the process was stopped, by a long garbage collection, a signal, or sleep of the machine: then its timer
 * is late.
 *
 * <p>The leader's clock for a session is moved on by what the client's server reports every half tick. A client that
 * runs pings often enough for that clock to be well ahead when a write comes; one that was stopped did not ping, and
 * the leader may end the session between the write and the report that tells of it. So such a write proves only what a
 * write at the beginning of the stop would have proven, until half a tick after the first answer to a request that was
 * sent since. Without an answer that takes a whole T after the stop, as a client gives up a connection on which it
 * hears nothing for 2/3 T. Each session has its own. Confined to the engine thread.
 */
public final class PauseDetector {
    static final int BEATS_IN_A_TIMEOUT = 16;
    /** Stops that are shorter than this part of T do no harm. */
    private static final int HARMLESS = 12;

    private final EngineScheduler scheduler;
    private final Runnable onBeat;
    private long timeoutNanos;
    private long lastBeat;
    private long period;
    private boolean stopped;
    private long stoppedAt;
    private long resumedAt;
    private boolean answered; // what was sent since then
    private long answeredAt;
    private boolean over;
    private @Nullable Timer timer;

    /**
     * Stands still until it {@link #begin begins}; then it beats. The time-out is that of the session, T. A stop of the
     * process makes one beat at most.
     */
    public PauseDetector(EngineScheduler scheduler, Duration timeout, Runnable onBeat) {
        this.scheduler = scheduler;
        this.timeoutNanos = timeout.toNanos();
        this.onBeat = onBeat;
        this.lastBeat = scheduler.nanoTime();
    }

    public void begin(long newTimeoutNanos) {
        timeoutNanos = newTimeoutNanos;
        begin();
    }

    /** Begins to look for pauses, or continues. */
    public void begin() {
        beat();
        cancel();
        if (!over) {
            period = timeoutNanos / BEATS_IN_A_TIMEOUT;
            timer = scheduler.schedule(Duration.ofNanos(period), () -> {
                begin();
                onBeat.run();
            });
        }
    }

    private void cancel() {
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }

    public void end() {
        over = true;
        cancel();
    }

    private void beat() {
        long now = scheduler.nanoTime();
        long stop = timeoutNanos / HARMLESS;
        if (now - lastBeat > Math.max(stop, period + stop / 4)) {
            boolean another = !stopped || lastBeat - resumedAt >= timeoutNanos;
            stoppedAt = another ? lastBeat : stoppedAt;
            resumedAt = now;
            stopped = true;
            answered = false;
        }
        lastBeat = now;
    }

    /**
     * The time as of which a committed write proves the session: when it was sent, or the beginning of a stop that was
     * over only just before. To be called for each answered write.
     */
    public long provenAsOf(long sentAt) {
        beat();
        boolean isAfterStop = stopped && sentAt - stoppedAt > timeoutNanos / HARMLESS;
        long halfATick = timeoutNanos / 4; // a session time-out has at least two ticks
        boolean isReported = answered && sentAt - answeredAt >= halfATick;
        if (!isAfterStop || isReported || sentAt - resumedAt >= timeoutNanos) {
            return sentAt;
        }
        if (!answered && sentAt - resumedAt >= 0) {
            answered = true;
            answeredAt = lastBeat;
        }
        return stoppedAt;
    }
}
