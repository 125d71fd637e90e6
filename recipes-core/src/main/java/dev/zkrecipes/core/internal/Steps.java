// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.spi.EngineScheduler;
import dev.zkrecipes.core.spi.EngineScheduler.Timer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The step that an attempt is in. Every answer belongs to the step in which its request was sent; one that comes when
 * the attempt has moved on is dropped. Confined to the engine thread.
 */
final class Steps {

    /** All steps; {@link Attempt} and {@link Pursuit} show how they follow each other. */
    enum Step {
        SEEKING,
        PEEKING,
        ENQUEUEING,
        MAKING_PATH,
        SETTLING,
        ADOPTING,
        CHECKING_ACCESS,
        LISTING,
        WAITING,
        RENEWING,
        MARKING,
        BREAKING,
        PAUSED,
        GRANTED,
        ENDED
    }

    private final EngineScheduler scheduler;
    private final Backoff backoff;
    private final Consumer<Throwable> onFailure;
    private Step step = Step.SEEKING;
    private int number;
    private @Nullable Runnable resumption;
    private @Nullable Timer timer;

    /**
     * Begins in SEEKING.
     *
     * @param onFailure told what a transition throws: an attempt must not hang because of it
     */
    Steps(EngineScheduler scheduler, Backoff backoff, Consumer<Throwable> onFailure) {
        this.scheduler = scheduler;
        this.backoff = backoff;
        this.onFailure = onFailure;
    }

    /** Runs a transition. */
    void guard(Runnable transition) {
        try {
            transition.run();
        } catch (Throwable t) {
            onFailure.accept(t);
        }
    }

    boolean isIn(Step asked) {
        return step == asked;
    }

    boolean isOver() {
        return step == Step.GRANTED || step == Step.ENDED;
    }

    void become(Step next) {
        step = next;
        number++;
        resumption = null;
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }

    /** A receiver that passes on what comes while this step lasts. */
    <T> Consumer<T> inThisStep(Consumer<T> body) {
        int begun = number;
        return value -> {
            if (number == begun) {
                guard(() -> body.accept(value));
            }
        };
    }

    /** Runs the action now, or when there is a connection. */
    void whenConnected(Session session, Runnable action) {
        if (session.isConnected()) {
            action.run();
        } else {
            become(Step.PAUSED);
            resumption = action;
        }
    }

    /** Runs the action after a delay or with the next connection, whichever comes first; never without a connection. */
    void pauseThen(Session session, Runnable action) {
        become(Step.PAUSED);
        resumption = action;
        Consumer<Session> resume = inThisStep(paused -> {
            timer = null;
            if (paused.isConnected()) {
                action.run();
            }
        });
        timer = scheduler.schedule(backoff.next(), () -> resume.accept(session));
    }

    void onConnected() {
        Runnable action = resumption;
        if (step == Step.PAUSED && action != null) {
            guard(action);
        }
    }

    /** Things went well: the next pause is a short one again. */
    void resetPace() {
        backoff.reset();
    }

    @Override
    public String toString() {
        return step.toString();
    }
}
