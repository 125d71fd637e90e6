// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.internal.revoke.PendingRevocation;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.thread.Backoff;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The step that an attempt is in. Every answer belongs to the step in which its request was sent; one that comes when
 * the attempt has moved on is dropped. Confined to the engine thread.
 */
public final class Steps {

    /** All steps; {@link AcquireLoop} and {@link PendingRevocation} show how they follow each other. */
    public enum Step {
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
    public Steps(EngineScheduler scheduler, Backoff backoff, Consumer<Throwable> onFailure) {
        this.scheduler = scheduler;
        this.backoff = backoff;
        this.onFailure = onFailure;
    }

    /** Runs a transition. */
    public void guard(Runnable transition) {
        try {
            transition.run();
        } catch (Throwable t) {
            onFailure.accept(t);
        }
    }

    public boolean isIn(Step asked) {
        return step == asked;
    }

    public boolean isOver() {
        return step == Step.GRANTED || step == Step.ENDED;
    }

    public void become(Step next) {
        step = next;
        number++;
        resumption = null;
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }

    /** A receiver that passes on what comes while this step lasts. */
    public <T> Consumer<T> inThisStep(Consumer<T> body) {
        int begun = number;
        return value -> {
            if (number == begun) {
                guard(() -> body.accept(value));
            }
        };
    }

    /** Runs the action now, or when there is a connection. */
    public void whenConnected(Session session, Runnable action) {
        if (session.isConnected()) {
            action.run();
        } else {
            become(Step.PAUSED);
            resumption = action;
        }
    }

    /** Runs the action after a delay or with the next connection, whichever comes first; never without a connection. */
    public void pauseThen(Session session, Runnable action) {
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

    public void onConnected() {
        Runnable action = resumption;
        if (step == Step.PAUSED && action != null) {
            guard(action);
        }
    }

    /** Things went well: the next pause is a short one again. */
    public void resetPace() {
        backoff.reset();
    }

    @Override
    public String toString() {
        return step.toString();
    }
}
