// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Notices that the process was stopped, by a long garbage collection, a signal, or sleep of the machine: then its timer
 * is late.
 *
 * <p>What a committed write says about the session's end depends on it. The leader's clock for a session is moved on by
 * what the client's server reports every half tick. A client that runs pings often enough for that clock to be well
 * ahead when a write comes; one that was stopped did not ping, and the leader may end the session between the write and
 * the report that tells of it. So such a write proves only what a write at the beginning of the stop would have proven,
 * until the server must have heard from the session and reported it. That is half a tick after the first answer to a
 * request that was sent since. Without an answer it is a whole T after the stop, as a client gives up a connection on
 * which it hears nothing for 2/3 T. Confined to the engine thread.
 */
public final class PauseDetector {
    static final int BEATS_IN_A_TIMEOUT = 16;

    private final EngineScheduler scheduler;
    private long timeoutNanos;
    private long lastBeat;
    private long period;
    private boolean stopped;
    private long stoppedAt;
    private long resumedAt;
    private boolean over;
    private @Nullable Timer timer;
    private Runnable onBeat = () -> {};

    /** Stands still until it {@link #begin begins}. The time-out is that of the session, T. */
    public PauseDetector(EngineScheduler scheduler, Duration timeout) {
        this.scheduler = scheduler;
        this.timeoutNanos = timeout.toNanos();
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

    /** Runs this with each beat, of which a stop of the process makes one at most. */
    void onBeat(Runnable task) {
        onBeat = task;
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
        long stop = stopLength();
        if (now - lastBeat > Math.max(stop, period + stop / 4)) {
            boolean another = !stopped || lastBeat - resumedAt >= timeoutNanos;
            stoppedAt = another ? lastBeat : stoppedAt;
            resumedAt = now;
            stopped = true;
        }
        lastBeat = now;
    }

    /** Shorter ones do no harm. */
    private long stopLength() {
        return timeoutNanos / 12;
    }

    /** Half a tick, of which a session time-out has at least two. */
    private long reportDue() {
        return timeoutNanos / 4;
    }

    /** What the server has heard of one session since the last stop. */
    public final class Contact {
        private boolean answered;
        private long answeredAfter;
        private long answeredAt;

        /**
         * The time as of which a committed write proves the session: when it was sent, or the beginning of a stop that
         * was over only just before. To be called for each answered write.
         */
        public long provenAsOf(long sentAt) {
            beat();
            boolean afterStop = stopped && sentAt - stoppedAt > stopLength();
            if (!afterStop || sentAt - resumedAt >= timeoutNanos || isReportedBefore(sentAt)) {
                return sentAt;
            }
            noteAnswer(sentAt);
            return stoppedAt;
        }

        private boolean isReportedBefore(long sentAt) {
            return answered && answeredAfter == resumedAt && sentAt - answeredAt >= reportDue();
        }

        private void noteAnswer(long sentAt) {
            boolean first = !answered || answeredAfter != resumedAt;
            if (first && sentAt - resumedAt >= 0) {
                answered = true;
                answeredAfter = resumedAt;
                answeredAt = lastBeat;
            }
        }
    }
}
