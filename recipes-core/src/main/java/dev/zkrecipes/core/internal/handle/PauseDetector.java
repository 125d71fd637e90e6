// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.handle;

import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Notices that the process was stopped: by a long garbage collection, by a signal, or because the machine slept. The
 * timer, which beats several times in a session time-out T, is late then. Each session has a detector of its own.
 *
 * <p>What a committed write says about the end of the session depends on such stops. The leader's clock for the
 * session is moved on by what the client's server reports every half tick. A client that runs pings often enough for
 * that clock to be well ahead when a write comes. A client that was stopped did not ping, and the leader may end the
 * session between the write and the report of it. So a write after a stop proves only what a write at the beginning
 * of the stop would have proven, until the server must have heard from the session again, and have reported that.
 *
 * <p>That is so half a tick after the first answer to a request that was sent after the stop. Without an answer it
 * takes a whole T after the stop, because a client gives up a connection on which it hears nothing for 2/3 T.
 * Confined to the engine thread.
 */
public final class PauseDetector {
    static final int BEATS_IN_A_TIMEOUT = 16; // frequent enough to notice a stop of T/12
    /** A stop that is shorter than this part of T does no harm. */
    private static final int HARMLESS = 12;

    private final EngineScheduler scheduler;
    private final Runnable onBeat;
    private long timeoutNanos; // T
    private long lastBeat; // when the process was last known to run
    private long period; // between two beats of the timer; 0 before it begins
    private boolean stopped; // whether there was a stop at all
    private long stoppedAt; // when the last stop began, or the first of several that are too close to each other
    private long resumedAt; // when the last stop was noticed
    private boolean answered; // whether a request that was sent since then was answered
    private long answeredAt;
    private boolean over; // whether the session has ended
    private @Nullable Timer timer;

    /**
     * Stands still until it {@linkplain #begin begins}. From then on {@code onBeat} runs with each beat. A stop of
     * the process makes one beat at most, so time that is counted in beats does not go on during a stop.
     * {@code timeout} is that of the session, T.
     */
    public PauseDetector(EngineScheduler scheduler, Duration timeout, Runnable onBeat) {
        this.scheduler = scheduler;
        this.timeoutNanos = timeout.toNanos();
        this.onBeat = onBeat;
        this.lastBeat = scheduler.nanoTime();
    }

    /** Goes on with another time-out, which the server has granted. */
    public void begin(long newTimeoutNanos) {
        timeoutNanos = newTimeoutNanos;
        begin();
    }

    /** Begins to look for stops, or goes on. The time until now is looked at first. */
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

    /** The session has ended. */
    public void end() {
        over = true;
        cancel();
    }

    /** The process runs. If it is longer than usual since it was last known to run, it was stopped in between. */
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
     * The time as of which a committed write proves the session: the time at which it was sent, or the beginning of a
     * stop that is not long enough ago. To be called for each write that was answered, since it also notes the first
     * answer after a stop.
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
