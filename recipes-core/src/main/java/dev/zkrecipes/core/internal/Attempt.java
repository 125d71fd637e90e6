// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import com.google.common.base.Preconditions;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.QueueLossPolicy;
import dev.zkrecipes.core.QueuePlaceLostException;
import dev.zkrecipes.core.internal.Steps.Step;
import dev.zkrecipes.core.spi.Answer;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.ZooKeeperOperations.State;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * One acquire, from the request to the grant or any other ending.
 *
 * <pre>
 *           SEEKING   a session; then PEEKING, if only a free lock will do
 *              |
 *              v      create and list are sent together
 *  +----&gt; ENQUEUEING ---- no path -----&gt; MAKING_PATH, then ENQUEUEING
 *  |           |  \------ answer lost --&gt; SETTLING: ADOPTING what was made, or ENQUEUEING
 *  |           v
 *  |       (decide) ----- granted -----&gt; GRANTED
 *  |        |    ^
 *  |        v    |
 *  |    WAITING  LISTING  a node that it waited for is gone
 *  |
 *  +-- own node gone; by way of SEEKING, if the session has ended
 * </pre>
 *
 * <p>A lost connection leads from any step to PAUSED and, once there is a connection, to the same step again. Any ending
 * but GRANTED (ENDED) hands the node to the {@link NodeCleaner}.
 *
 * <p>Confined to the engine thread, but for {@link #outcome()}: whoever completes it first decides, the engine with a
 * grant or the caller by giving up.
 */
final class Attempt implements SessionObserver, SessionSource.User, QueueEntry.Owner {

    /** Whether to queue, or to take the lock only if nobody is in front. */
    enum Mode {
        QUEUE,
        TRY
    }

    private final EngineClient client;
    private final LockTarget target;
    private final Mode mode;
    private final Runnable onQueued;
    private final Steps steps;
    private final WaitSet waits;
    private final CompletableFuture<Optional<Grant>> outcome = new CompletableFuture<>();

    private @Nullable Session session;
    private @Nullable QueueEntry entry;
    private boolean confirmed; // by a write that was committed in or just before this step
    private boolean confirmedTwice;

    /**
     * Prepares an attempt.
     *
     * @param onQueued run on the engine thread when the attempt begins to wait for others, and now and then after that
     */
    Attempt(LockTarget target, Mode mode, Runnable onQueued) {
        this.client = target.client();
        this.target = target;
        this.mode = mode;
        this.onQueued = onQueued;
        this.steps = new Steps(client.scheduler(), new Backoff(client.settings()), this::onFailure);
        this.waits = new WaitSet(this::onPredecessorGone, this::onWatchRefused);
    }

    // ---- What callers do, on any thread.

    /** Completes once: with a grant, empty if the lock is busy and the mode is TRY, or with a LockException. */
    CompletableFuture<Optional<Grant>> outcome() {
        return outcome;
    }

    @Override
    public String lockPath() {
        return target.path();
    }

    /** Begins. */
    void launch() {
        client.enter(this);
        client.scheduler().execute(() -> steps.guard(this::start));
    }

    /** Gives up, unless there is an outcome already; returns whether it gave up. */
    boolean giveUp() {
        boolean first = outcome.completeExceptionally(new CancellationException());
        client.scheduler().execute(this::endQuietly);
        return first;
    }

    // ---- Getting a session.

    private void start() {
        if (outcome.isDone()) {
            endQuietly();
        } else if (!steps.isOver()) {
            seek();
        }
    }

    private void seek() {
        steps.become(Step.SEEKING);
        client.sessions().request(this);
    }

    @Override
    public void with(Session found) {
        if (steps.isIn(Step.SEEKING)) {
            steps.guard(() -> begin(found));
        }
    }

    private void begin(Session found) {
        session = found;
        found.observe(this);
        client.cleaner().flush(target.path());
        if (mode == Mode.QUEUE) {
            steps.whenConnected(found, this::enqueue);
        } else if (found.isConnected()) {
            peek();
        } else {
            fail(new LockConnectionException("not connected to ZooKeeper, so it cannot be seen whether the lock "
                    + target.path() + " is free; try again when connected, or use a timed acquire"));
        }
    }

    @Override
    public void unavailable(LockException why) {
        if (steps.isIn(Step.SEEKING)) {
            fail(why);
        }
    }

    @Override
    public void notNow(LockException why) {
        if (steps.isIn(Step.SEEKING) && mode == Mode.TRY) {
            fail(why);
        }
    }

    @Override
    public void onConnected() {
        steps.onConnected();
    }

    @Override
    public void onEnded(State how) {
        steps.guard(() -> onSessionEnded(how));
    }

    private void onSessionEnded(State how) {
        boolean hadPlace = entry != null && entry.node().existence() == QueueNode.Existence.CREATED;
        discardNode();
        session = null;
        if (how == State.AUTH_FAILED) {
            fail(new LockAccessException("ZooKeeper refused the credentials of this client, so the lock "
                    + target.path() + " cannot be acquired; check the auth settings"));
        } else if (mode == Mode.TRY) {
            fail(new LockConnectionException("the ZooKeeper session ended (" + how + ") while trying for the lock "
                    + target.path() + "; try again"));
        } else if (hadPlace && target.options().queueLossPolicy() == QueueLossPolicy.FAIL) {
            fail(placeLost("the ZooKeeper session has ended (" + how + ")"));
        } else {
            seek();
        }
    }

    // ---- Queueing.

    private void peek() {
        steps.become(Step.PEEKING);
        session().lists().ask(target.path(), steps.inThisStep(this::onPeeked));
    }

    private void onPeeked(Lists.Look look) {
        switch (look.code()) {
            case OK ->
                deciding(() -> look.queue(target).decide(target.hypotheticalLast()))
                        .ifPresent(decision -> {
                            if (decision instanceof Decision.Granted) {
                                enqueue();
                            } else {
                                act(decision);
                            }
                        });
            case NONODE -> enqueue();
            default -> retryOrFail("list " + target.path(), look.answer(), this::peek);
        }
    }

    private void enqueue() {
        QueueEntry begun = new QueueEntry(target, session(), steps, this);
        entry = begun;
        begun.create();
    }

    @Override
    public void onEntered(Lists.Look look) {
        confirmed = true;
        onListed(look);
    }

    // ---- Deciding and waiting.

    private void list() {
        steps.become(Step.LISTING);
        confirmed = session().isFreshlyProven();
        if (!confirmed) {
            // A lease must not start on an old proof. The list that follows tells if the node is gone.
            session().check(List.of(node().path()), steps.inThisStep(answer -> {
                confirmed = answer.isOk();
                if (!confirmed && answer.code() != Code.NONODE) {
                    retryOrFail("check " + node().path(), answer, this::list);
                }
            }));
        }
        session().lists().ask(target.path(), steps.inThisStep(this::onListed));
    }

    private void onListed(Lists.Look look) {
        switch (look.code()) {
            case OK -> decide(look);
            case NONODE -> onVanished();
            default -> retryOrFail("list " + target.path(), look.answer(), this::list);
        }
    }

    private void decide(Lists.Look look) {
        steps.resetPace();
        deciding(() -> look.queue(target).decideOnOwn(node().name()))
                .ifPresent(decision -> decision.ifPresentOrElse(this::act, this::onVanished));
    }

    private void act(Decision decision) {
        if (decision instanceof Decision.Never never) {
            fail(new LockRefusedException("the lock " + target.path() + " refuses this request: " + never.reason()));
        } else if (decision instanceof Decision.Granted) {
            grantOrConfirm();
        } else if (mode == Mode.TRY) {
            end(() -> outcome.complete(Optional.empty()));
        } else if (decision instanceof Decision.WaitFor wait) {
            waitFor(wait.nodes());
        }
    }

    private void waitFor(List<LockNode> nodes) {
        steps.become(Step.WAITING);
        client.queueGuard().add(this);
        waits.waitFor(
                nodes.stream()
                        .map(waitedFor -> LockPath.child(target.path(), waitedFor.name()))
                        .collect(Collectors.toSet()),
                session().watches());
        onQueued.run();
    }

    private void onPredecessorGone() {
        if (steps.isIn(Step.WAITING)) {
            list();
        }
    }

    private void onWatchRefused(String path, Answer<?> answer) {
        fail(Refusal.of(target.path(), "watch " + path, answer.code()));
    }

    private void grantOrConfirm() {
        boolean stillborn = session().isOutlived();
        if (!confirmed || stillborn || (!session().isProven() && !confirmedTwice)) {
            // Better a valid lease a moment later. Once more is enough: on a line that is too slow no lease is valid.
            confirmedTwice = confirmed;
            list();
            return;
        }
        QueueNode mine = node();
        Grant grant;
        try {
            grant = new Grant(client, mine);
        } catch (LockException e) {
            fail(e);
            return;
        }
        entry = null;
        mine.session().leases().add(grant);
        finish(Step.GRANTED);
        if (!outcome.complete(Optional.of(grant))) {
            grant.release();
        }
    }

    // ---- Losing the place.

    /** The node that this attempt waits with; empty unless it waits. */
    Optional<QueueNode> waitingNode() {
        return steps.isIn(Step.WAITING) ? Optional.of(node()) : Optional.empty();
    }

    /** The attempt has waited for a while: its owner may have something to see to. */
    void remindOwner() {
        onQueued.run();
    }

    /** Our node is gone though the session lives: somebody deleted it. */
    @Override
    public void onVanished() {
        String name = node().describe();
        discardNode();
        if (target.options().queueLossPolicy() == QueueLossPolicy.FAIL) {
            fail(placeLost("its node " + name + " was deleted by somebody else"));
        } else {
            steps.pauseThen(session(), this::enqueue);
        }
    }

    private QueuePlaceLostException placeLost(String why) {
        return new QueuePlaceLostException("lost the place in the queue of the lock " + target.path() + ": " + why
                + "; acquire again, or use QueueLossPolicy.REQUEUE");
    }

    // ---- Trouble and endings.

    private void onFailure(Throwable failure) {
        fail(new LockException("the lock engine failed on " + target.path() + "; please report this", failure));
    }

    @Override
    public void retryOrFail(String what, Answer<?> answer, Runnable again) {
        if (answer.code() == Code.SESSIONEXPIRED) {
            session().become(State.EXPIRED);
        } else if (!answer.isUnsettled()) {
            fail(Refusal.of(target.path(), what, answer.code()));
        } else if (mode == Mode.TRY) {
            fail(new LockConnectionException("lost the connection to ZooKeeper (" + answer.code()
                    + ") while trying for the lock " + target.path() + "; try again"));
        } else {
            steps.pauseThen(session(), again);
        }
    }

    /** Runs what may call the driver; empty if that failed, and then so has the attempt. */
    private <T> Optional<T> deciding(Supplier<T> decision) {
        try {
            return Optional.of(decision.get());
        } catch (LockException e) {
            fail(e);
            return Optional.empty();
        }
    }

    @Override
    public void fail(LockException why) {
        end(() -> outcome.completeExceptionally(why));
    }

    /** Somebody else has completed the outcome. */
    private void endQuietly() {
        end(() -> {});
    }

    private void end(Runnable last) {
        if (!steps.isOver()) {
            discardNode();
            finish(Step.ENDED);
            last.run();
        }
    }

    private void finish(Step last) {
        steps.become(last);
        client.queueGuard().remove(this);
        client.sessions().forget(this);
        Session current = session;
        if (current != null) {
            waits.clear(current.watches());
            current.ignore(this);
        }
        client.exit(this);
    }

    private void discardNode() {
        QueueEntry left = entry;
        if (left != null) {
            entry = null;
            waits.clear(left.node().session().watches());
            client.queueGuard().remove(this);
            client.cleaner().discard(left.node());
        }
    }

    private Session session() {
        return Preconditions.checkNotNull(session, "no session in step %s", steps);
    }

    private QueueNode node() {
        return Preconditions.checkNotNull(entry, "no node in step %s", steps).node();
    }
}
