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
 * Ends a handle that neither answers nor ends: ZooKeeper's client never takes it for the session's end when servers
 * that have lost data refuse a session that has seen more than they know; and threads of the client may have died for
 * want of memory. A handle is given up when no server has answered it for a session time-out and a half, although there
 * was no connection or something was asked. It is reported as expired, what was asked is answered so, and it is closed.
 * The time is counted in beats of the engine: a process that was stopped first hears what the server has to say.
 * Confined to the engine thread.
 */
public final class Silence {
    private static final Logger log = LoggerFactory.getLogger(Silence.class);

    /** ZooKeeper's own client needs four thirds of the time-out at most to see that nobody answers. */
    private static final int MOST_SILENT_BEATS = PauseDetector.BEATS_IN_A_TIMEOUT * 3 / 2;

    final ZooKeeperOperations handle;
    private final EngineScheduler scheduler;
    private final Consumer<State> told;
    private final Deque<Asked<?>> unanswered = new ArrayDeque<>(); // answered in this order, most of the time
    private State state = State.CONNECTING;
    private boolean heard;
    private int silentBeats;
    private boolean givenUp;
    private boolean answered;

    /** Opens the handle, of whose states it tells, up to the first final one. */
    public Silence(ZooKeeperOperations.Factory handles, EngineScheduler scheduler, Consumer<State> told) {
        this.scheduler = scheduler;
        this.told = told;
        this.handle = handles.open(this::become);
        onState(handle.initialState());
    }

    private void become(State next) {
        if (!state.isFinal()) {
            onState(next);
            told.accept(next);
        }
    }

    private void onState(State next) {
        state = next;
        heard |= next == State.CONNECTED || next == State.READ_ONLY;
    }

    void beat() {
        boolean isWaiting = state == State.DISCONNECTED || !unanswered.isEmpty();
        boolean isSilent = isWaiting && !heard && !state.isFinal();
        silentBeats = isSilent ? silentBeats + 1 : 0;
        heard = false;
        if (silentBeats > MOST_SILENT_BEATS && handle.sessionId() != 0) {
            giveUp(handle.sessionTimeout());
        }
    }

    private void giveUp(Duration timeout) {
        log.warn(
                "No server has answered ZooKeeper session 0x{} for {}, so its handle is given up.",
                Long.toHexString(handle.sessionId()),
                timeout.multipliedBy(3).dividedBy(2));
        givenUp = true;
        become(State.EXPIRED);
        List.copyOf(unanswered).forEach(Asked::expire);
        scheduler.executeBlocking(handle::close);
    }

    /** Whether the session was ever answered a request. */
    boolean hasAnswered() {
        return answered;
    }

    boolean isGivenUp() {
        return givenUp;
    }

    /** Remembers a request that is about to be sent; one to a handle that was given up is answered at once. */
    <T> Consumer<Answer<T>> endedBy(Consumer<Answer<T>> reply) {
        Asked<T> asked = new Asked<>(reply);
        unanswered.add(asked);
        if (givenUp) {
            scheduler.execute(asked::expire);
        }
        return asked;
    }

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
