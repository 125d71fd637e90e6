// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.handle;

import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes a handle that delivers no answers and whose session never ends. There are two causes. Servers that have lost
 * data refuse a client that has seen a later zxid than theirs, forever, and ZooKeeper's client never treats that as the
 * end of the session. And a thread of ZooKeeper's client may have died because memory ran out.
 *
 * <p>A handle is given up when no server has answered it for one and a half session time-outs in which it had no
 * connection or had pending requests. It is reported as expired, pending requests get that answer, and the handle is
 * closed. By then the session has expired by every clock, except for those of servers that were unavailable.
 *
 * <p>The time is counted in beats of the session. So after a pause of the process, the client first receives what the
 * server has sent. Confined to the engine thread.
 */
public final class Silence {
    private static final Logger log = LoggerFactory.getLogger(Silence.class);

    /**
     * ZooKeeper's own client takes up to four thirds of the time-out to notice that no server answers, so this limit is
     * higher.
     */
    private static final int MOST_SILENT_BEATS = PauseDetector.BEATS_IN_A_TIMEOUT * 3 / 2;

    final ZooKeeperOperations handle;
    private final EngineScheduler scheduler;
    private final Consumer<State> told;
    private final Deque<Asked<?>> unanswered = new ArrayDeque<>(); // usually answered in the order of sending
    private boolean heard; // whether a server has shown itself since the last beat
    private int silentBeats; // in a row
    private boolean givenUp;
    private boolean answered; // whether a request was ever answered

    /** Opens the handle. {@code told} receives each change of its state, until the handle is given up. */
    public Silence(ZooKeeperOperations.Factory handles, EngineScheduler scheduler, Consumer<State> told) {
        this.scheduler = scheduler;
        this.told = told;
        this.handle = handles.open(this::onState);
        hear(handle.initialState());
    }

    /** Passes a state on. A handle that was given up may continue to report states, which are ignored. */
    private void onState(State next) {
        if (!givenUp) {
            hear(next);
            told.accept(next);
        }
    }

    private void hear(State next) {
        heard |= next == State.CONNECTED || next == State.READ_ONLY;
    }

    /**
     * Checks whether a server has shown itself since the last beat. {@code state} is the current state of the session.
     * A handle that never had a session is not given up: it continues to look for a server.
     */
    void beat(State state) {
        boolean isWaiting = state == State.DISCONNECTED || !unanswered.isEmpty();
        boolean isSilent = isWaiting && !heard && !state.isFinal();
        silentBeats = isSilent ? silentBeats + 1 : 0;
        heard = false;
        if (silentBeats > MOST_SILENT_BEATS && handle.sessionId() != 0) {
            giveUp(handle.sessionTimeout());
        }
    }

    /** Reports the session as expired, and closes the handle on another thread, because that may block. */
    private void giveUp(Duration timeout) {
        log.warn(
                "No server has answered ZooKeeper session 0x{} for {}, so its handle is given up.",
                Long.toHexString(handle.sessionId()),
                timeout.multipliedBy(3).dividedBy(2));
        givenUp = true;
        told.accept(State.EXPIRED);
        List.copyOf(unanswered).forEach(Asked::expire);
        scheduler.executeBlocking(handle::close);
    }

    /** Whether a server has ever answered a request of the session. */
    boolean hasAnswered() {
        return answered;
    }

    boolean isGivenUp() {
        return givenUp;
    }

    /**
     * Registers a request that is about to be sent, and wraps the receiver of its answer. If the handle was given up,
     * the answer is that the session has expired.
     */
    <T> Consumer<Answer<T>> endedBy(Consumer<Answer<T>> reply) {
        Asked<T> asked = new Asked<>(reply);
        unanswered.add(asked);
        if (givenUp) {
            scheduler.execute(asked::expire);
        }
        return asked;
    }

    /** A pending request. It accepts one answer: a later one from the closed handle is dropped. */
    private final class Asked<T> implements Consumer<Answer<T>> {
        private final Consumer<Answer<T>> reply;

        Asked(Consumer<Answer<T>> reply) {
            this.reply = reply;
        }

        @Override
        public void accept(Answer<T> answer) {
            if (unanswered.removeFirstOccurrence(this)) {
                Code code = answer.code();
                boolean isAnswer = code != Code.CONNECTIONLOSS && code != Code.REQUESTTIMEOUT;
                heard |= isAnswer;
                answered |= isAnswer;
                reply.accept(answer);
            }
        }

        void expire() {
            accept(Answer.failed(Code.SESSIONEXPIRED));
        }
    }
}
