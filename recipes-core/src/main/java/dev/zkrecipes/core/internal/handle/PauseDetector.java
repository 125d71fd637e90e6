// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.handle;

import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Detects that the process was paused: by a long garbage collection, by a signal, or because the machine was suspended.
 * A timer that beats several times in a session time-out T is then late. Each session has its own detector.
 *
 * <p>What a committed write proves about the expiry of the session depends on such pauses. The leader postpones the
 * expiry when the client's server reports activity, which it does every half tick. A running client pings often enough
 * for the expiry to be far off when a write arrives. A paused client does not ping, and the leader may expire the
 * session between the write and the report of it. So a write after a pause proves only what a write at the beginning of
 * the pause would have proven, until the server must have received something from the session again and must have
 * reported that.
 *
 * <p>That is the case half a tick after the first answer to a request that was sent after the pause. Without an answer
 * it takes a whole T after the pause, because a client gives up a connection on which it hears nothing for 2/3 T.
 * Confined to the engine thread.
 */
public final class PauseDetector {
    static final int BEATS_IN_A_TIMEOUT = 16; // frequent enough to detect a pause of T/12
    /** A pause shorter than T divided by this number is harmless. */
    private static final int HARMLESS = 12;

    private final EngineScheduler scheduler;
    private final Runnable onBeat;
    private long timeoutNanos; // T
    private long lastBeat; // when the process was last known to run
    private long period; // between two beats of the timer; 0 before it begins
    private boolean stopped; // whether there has been a pause
    private long stoppedAt; // when the last pause began, or the first of several in close succession
    private long resumedAt; // when the last pause was detected
    private boolean answered; // whether a request sent since then was answered
    private long answeredAt;
    private boolean over; // whether the session has ended
    private @Nullable Timer timer;

    /**
     * Creates a detector that is idle until it {@linkplain #begin begins}. From then on {@code onBeat} runs on each
     * beat. A pause of the process causes at most one beat, so time that is counted in beats does not advance during a
     * pause. {@code timeout} is the session time-out T.
     */
    public PauseDetector(EngineScheduler scheduler, Duration timeout, Runnable onBeat) {
        this.scheduler = scheduler;
        this.timeoutNanos = timeout.toNanos();
        this.onBeat = onBeat;
        this.lastBeat = scheduler.nanoTime();
    }

    /** Continues with another time-out, which the server has granted. */
    public void begin(long newTimeoutNanos) {
        timeoutNanos = newTimeoutNanos;
        begin();
    }

    /** Begins to detect pauses, or continues to. First checks the time since the last beat. */
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

    /** Stops the timer, because the session has ended. */
    public void end() {
        over = true;
        cancel();
    }

    /**
     * Records that the process runs. If more time than usual has passed since it was last known to run, it was paused
     * in between.
     */
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
     * Returns the time as of which a committed write proves the session: the time at which it was sent, or the
     * beginning of a pause that is too recent. Must be called for each answered write, because it also records the
     * first answer after a pause.
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
