// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.node;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.node.Leftover.Verdict;
import dev.zkrecipes.core.internal.node.OwnNode.Existence;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.thread.Backoff;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One node on its way out. It waits for the answer to its create; for its place in the {@link DeletionQueue}; for an
 * answer; for a timer, if there was none; or for its turn among those of its path that were refused.
 */
final class Deletion implements DeletionQueue.Entry {
    private static final Logger log = LoggerFactory.getLogger(Deletion.class);

    private final OwnNode node;
    private final Leftover leftover;
    private final EngineScheduler scheduler;
    private final Supplier<Backoff> pace;
    private final DeletionQueue queue;
    private final BiConsumer<Deletion, Verdict> told;
    private final CompletableFuture<Void> done;
    private @Nullable Backoff pauses; // none before an answer was missing
    private @Nullable Timer timer;
    private @Nullable Session sentIn;
    private @Nullable Supplier<LockException> refusal;
    private boolean finished;

    /**
     * Prepares one.
     *
     * @param pace makes the pauses after answers that did not come
     * @param told told GONE once, at its end; and what was found before, or refused, each time
     * @param done completed at its end
     */
    Deletion(
            Leftover leftover,
            EngineScheduler scheduler,
            Supplier<Backoff> pace,
            DeletionQueue queue,
            BiConsumer<Deletion, Verdict> told,
            CompletableFuture<Void> done) {
        this.node = leftover.node();
        this.leftover = leftover;
        this.scheduler = scheduler;
        this.pace = pace;
        this.done = done;
        this.queue = queue;
        this.told = told;
    }

    @Override
    public OwnNode node() {
        return node;
    }

    /** Completes when it is gone; exceptionally as soon as that is refused. */
    CompletableFuture<Void> done() {
        return done;
    }

    boolean isUnderWay() {
        return sentIn != null;
    }

    /** Whether this is the deletion of that node, and not of what was made on the way to it. */
    boolean isOf(String nodePath) {
        return node.existence() == Existence.CREATED && node.path().equals(nodePath);
    }

    /** Whether it comes before whatever is sent next in this session, and will do what it is for as far as is known. */
    boolean isAheadIn(Session session) {
        return sentIn == session && refusal == null && node.existence() == Existence.CREATED;
    }

    Optional<LockException> refusal() {
        return Optional.ofNullable(refusal).map(Supplier::get);
    }

    boolean outlives(Session session) {
        return node.session() != session || leftover.outlivesItsSession();
    }

    /** Queues; but what could not be asked for before its create was answered does not, nor what is looked for. */
    @Override
    public void begin() {
        if (node.existence() == Existence.IN_FLIGHT) {
            node.whenAnswered(this::send);
        } else if (leftover.isToBeFound()) {
            send();
        } else {
            queue.add(this);
        }
    }

    void beginAfter(Duration pause) {
        beginAtEndOf(end -> scheduler.schedule(pause, end));
    }

    private void beginAtEndOf(Function<Runnable, Timer> pause) {
        stopWaiting();
        queue.rests(this);
        timer = pause.apply(() -> {
            stopWaiting();
            begin();
            queue.pump();
        });
    }

    /** Sends it now, if it is just waiting for a better time. */
    void hurry() {
        if (queue.isPutOff(this)) {
            send();
        }
    }

    @Override
    public void send() {
        stopWaiting();
        if (finished || leftover.isNothing()) {
            finish();
            return;
        }
        Session session = queue.sessionFor(this);
        if (finished) {
            stopWaiting(); // there is no session any more
        } else if (session != null) {
            isSentIn(session);
            leftover.remove(session, verdict -> {
                onAnswer(() -> onVerdict(verdict));
                queue.pump();
            });
        }
    }

    private void stopWaiting() {
        queue.remove(this);
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }

    void isSentIn(Session session) {
        sentIn = session;
        if (!leftover.isToBeFound()) {
            queue.isUnderWay(this);
        }
    }

    void onAnswer(Runnable next) {
        sentIn = null;
        queue.isAnswered(this);
        if (!finished) {
            next.run();
        }
    }

    private void onVerdict(Verdict verdict) {
        if (verdict instanceof Verdict.Gone) {
            finish();
        } else if (verdict instanceof Verdict.NotThere) {
            told.accept(this, verdict);
            finish();
        } else if (verdict instanceof Verdict.Found) {
            told.accept(this, verdict);
            begin();
        } else if (verdict instanceof Verdict.Again) {
            Backoff known = pauses == null ? pace.get() : pauses;
            pauses = known;
            beginAtEndOf(known::pause);
        } else if (verdict instanceof Verdict.Later later) {
            beginAfter(later.after());
        } else if (verdict instanceof Verdict.Refused refused) {
            onRefused(refused);
        }
    }

    private void onRefused(Verdict.Refused refused) {
        if (refusal == null) {
            refusal = refused.why();
            LockException why = refusal.get();
            log.warn("{}.", why.getMessage());
            done.completeExceptionally(why);
        }
        told.accept(this, refused);
    }

    void finish() {
        stopWaiting();
        if (!finished) {
            finished = true;
            node.uncount();
            if (node.existence() == Existence.CREATED) {
                node.session().watches().onKnownGone(node.path());
            }
            told.accept(this, Verdict.GONE);
            done.complete(null);
        }
    }
}
