// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.spi.Answer;
import java.util.concurrent.CompletableFuture;

/**
 * Something to find out about one lock path, or to do there, in the session of the moment: it has an answer, or fails, and
 * is not tried again. Confined to the engine thread, but for {@link #launch()}.
 *
 * @param <T> the answer
 */
abstract class Question<T> implements SessionSource.User {
    private final LockTarget target;
    private final String subject;
    private final CompletableFuture<T> result = new CompletableFuture<>();

    /**
     * Prepares a question.
     *
     * @param subject what it is about, for messages: "who takes part in"
     */
    Question(LockTarget target, String subject) {
        this.target = target;
        this.subject = subject + " the lock " + target.path();
    }

    /** Sends what there is to ask. What it throws is the failure. */
    abstract void ask(Session session);

    /** Begins; the future completes on the engine thread. */
    final CompletableFuture<T> launch() {
        target.client().scheduler().execute(() -> target.client().sessions().request(this));
        return result;
    }

    LockTarget target() {
        return target;
    }

    String subject() {
        return subject;
    }

    /** Whether it is answered, or nobody waits for the answer any more. */
    boolean isOver() {
        return result.isDone();
    }

    void answer(T value) {
        result.complete(value);
    }

    void fail(LockException why) {
        result.completeExceptionally(why);
    }

    /** A request got no answer, or a refusal. */
    void fail(String what, Answer<?> answer) {
        fail(
                answer.isUnsettled()
                        ? new LockConnectionException("lost the connection to ZooKeeper (" + answer.code()
                                + ") while asking for " + subject + ": nothing is known of it; ask again")
                        : Refusal.of(target.path(), what, answer.code()));
    }

    /** Runs what may throw, and fails with that. */
    void guard(Runnable step) {
        try {
            step.run();
        } catch (LockException e) {
            fail(e);
        }
    }

    @Override
    public String lockPath() {
        return target.path();
    }

    @Override
    public void unavailable(LockException why) {
        fail(why);
    }

    @Override
    public void notNow(LockException why) {
        target.client().sessions().forget(this);
        fail(why);
    }

    @Override
    public void with(Session session) {
        if (session.isConnected()) {
            guard(() -> ask(session));
        } else {
            fail(new LockConnectionException(target.client().notConnected() + ", so nobody can be asked for " + subject
                    + "; ask again when connected"));
        }
    }
}
