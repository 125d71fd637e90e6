// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import com.google.common.base.Preconditions;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.QueueLossPolicy;
import dev.zkrecipes.core.QueuePlaceLostException;
import dev.zkrecipes.core.internal.acquire.Steps.Step;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.node.NodeCleaner;
import dev.zkrecipes.core.internal.node.OwnNode;
import dev.zkrecipes.core.internal.queue.ChildrenSnapshot;
import dev.zkrecipes.core.internal.queue.JointDecision;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.session.SessionObserver;
import dev.zkrecipes.core.internal.session.SessionSource;
import dev.zkrecipes.core.internal.thread.Backoff;
import dev.zkrecipes.core.internal.zk.ZooKeeperErrors;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
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
 *  |    CHECKING_ACCESS  if the lock has an ACL of its own and this session has not seen its path
 *  |           |
 *  |       (decide) ----- granted -----&gt; GRANTED
 *  |        |    ^
 *  |        v    |
 *  |    WAITING  LISTING  a node that it waited for is gone
 *  |
 *  +-- own node gone; by way of SEEKING, if the session has ended;
 *      by way of RENEWING, if the path's counter is near its end
 * </pre>
 *
 * <p>A lost connection leads from any step to PAUSED and, once there is a connection, to the same step again. Any ending
 * but GRANTED (ENDED) hands the node to the {@link NodeCleaner}.
 *
 * <p>Confined to the engine thread, but for {@link #outcome()}: whoever completes it first decides, the engine with a
 * grant or the caller by giving up.
 */
public final class AcquireLoop
        implements Acquisition, SessionObserver, SessionSource.User, Turn.Owner, CounterRenewal.Owner {
    private final EngineClient client;
    private final LockGroup targets;
    private final Mode mode;
    private final Runnable onQueued;
    private final Steps steps;
    private final CompletableFuture<Optional<List<HeldNode>>> outcome = new CompletableFuture<>();

    private @Nullable Session session;
    private @Nullable Enqueue entry;
    private @Nullable Turn turn;
    private @Nullable CounterRenewal renewal;

    /**
     * Prepares an attempt.
     *
     * @param onQueued run on the engine thread when the attempt begins to wait for others, and now and then after that
     */
    public AcquireLoop(LockGroup targets, Mode mode, Runnable onQueued) {
        this.client = targets.client();
        this.targets = targets;
        this.mode = mode;
        this.onQueued = onQueued;
        this.steps = new Steps(
                client.scheduler(),
                new Backoff(client.settings(), client.scheduler().random()),
                this::onFailure);
    }

    // ---- What callers do, on any thread.

    @Override
    public CompletableFuture<Optional<List<HeldNode>>> outcome() {
        return outcome;
    }

    @Override
    public String lockPath() {
        return targets.path();
    }

    @Override
    public void launch() {
        client.enter(this);
        client.scheduler().execute(() -> steps.guard(this::start));
    }

    @Override
    public boolean giveUp() {
        if (outcome.isDone()) {
            return false; // it has ended or is about to
        }
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
        targets.paths().forEach(client.cleaner()::flush);
        if (mode == Mode.QUEUE) {
            // What its own driver refuses is not queued before it is seen that the path's rule allows it.
            boolean looksFirst = targets.all().stream().anyMatch(LockSpec::isHopeless);
            steps.whenConnected(found, looksFirst ? this::peek : this::enqueue);
        } else if (found.isConnected()) {
            peek();
        } else {
            fail(new LockConnectionException(client.notConnected() + ", so it cannot be seen whether the lock "
                    + targets.path() + " is free; try again when connected, or use a timed acquire"));
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
        boolean hadPlace = entry != null && entry.nodes().get(0).existence() == OwnNode.Existence.CREATED;
        discardNodes();
        session = null;
        if (how == State.AUTH_FAILED) {
            fail(new LockAccessException("ZooKeeper refused the credentials of this client, so the lock "
                    + targets.path() + " cannot be acquired; check the auth settings"));
        } else if (mode == Mode.TRY) {
            fail(new LockConnectionException("the ZooKeeper session ended (" + how + ") while trying for the lock "
                    + targets.path() + "; try again"));
        } else if (hadPlace && targets.options().queueLossPolicy() == QueueLossPolicy.FAIL) {
            fail(placeLost("the ZooKeeper session has ended (" + how + ")"));
        } else {
            seek();
        }
    }

    // ---- Queueing.

    private void peek() {
        steps.become(Step.PEEKING);
        session().lists().ask(targets.query(), steps.inThisStep(this::onPeeked));
    }

    private void onPeeked(ChildrenSnapshot look) {
        if (look.code() != Code.OK && look.code() != Code.NONODE) {
            retryOrFail("list " + targets.path(), look.answer(), this::peek);
            return;
        }
        try {
            JointDecision verdict = JointDecision.onNewcomer(targets, look);
            if (verdict instanceof JointDecision.Never never) {
                fail(never.refusal());
            } else if (verdict instanceof JointDecision.Granted || mode == Mode.QUEUE) {
                enqueue();
            } else {
                end(() -> outcome.complete(Optional.empty()));
            }
        } catch (LockException e) {
            fail(e);
        }
    }

    private void enqueue() {
        Enqueue begun = new Enqueue(targets, session(), steps, this);
        entry = begun;
        begun.create();
    }

    @Override
    public void onEntered(ChildrenSnapshot look) {
        Turn begun = new Turn(targets, nodes(), session(), steps, this);
        turn = begun;
        begun.decide(look);
    }

    @Override
    public boolean onBusy() {
        if (mode == Mode.TRY) {
            end(() -> outcome.complete(Optional.empty()));
            return false;
        }
        steps.become(Step.WAITING);
        client.queueGuard().add(this);
        onQueued.run();
        return true;
    }

    @Override
    public void onGranted(List<HeldNode> grants) {
        entry = null;
        grants.forEach(session().leases()::add);
        finish(Step.GRANTED);
        if (!outcome.complete(Optional.of(grants))) {
            HeldNode.release(grants);
        }
    }

    // ---- A counter that is near its end.

    @Override
    public void onWornOut() {
        discardNodes();
        CounterRenewal begun = new CounterRenewal(targets, session(), steps, this);
        renewal = begun;
        begun.begin();
    }

    @Override
    public boolean mayWaitForRenewal() {
        if (mode == Mode.TRY) {
            end(() -> outcome.complete(Optional.empty()));
            return false;
        }
        onQueued.run();
        return true;
    }

    @Override
    public void onRenewed() {
        endTurn();
        enqueue();
    }

    // ---- Losing the place.

    /** The nodes that this attempt waits with; none unless it waits. */
    public List<OwnNode> waitingNodes() {
        return steps.isIn(Step.WAITING) ? nodes() : List.of();
    }

    /** The attempt has waited for a while: its owner may have something to see to. */
    public void remindOwner() {
        onQueued.run();
    }

    /** A node of ours is gone though the session lives: somebody deleted it. All enter again together. */
    @Override
    public void onVanished() {
        String names = OwnNode.describe(nodes());
        discardNodes();
        if (targets.options().queueLossPolicy() == QueueLossPolicy.FAIL) {
            fail(placeLost((targets.isSingle() ? "its node " : "one of its nodes ") + names
                    + " was deleted by somebody else"));
        } else {
            steps.pauseThen(session(), this::enqueue);
        }
    }

    private QueuePlaceLostException placeLost(String why) {
        return new QueuePlaceLostException("lost the place in the queue of the lock " + targets.path() + ": " + why
                + "; acquire again, or use QueueLossPolicy.REQUEUE");
    }

    // ---- Trouble and endings.

    private void onFailure(Throwable failure) {
        fail(
                failure instanceof LockException known
                        ? known
                        : new LockException(
                                "the lock engine failed on " + targets.path() + "; please report this", failure));
    }

    @Override
    public void retryOrFail(String what, Answer<?> answer, Runnable again) {
        if (answer.code() == Code.SESSIONEXPIRED) {
            session().become(State.EXPIRED);
        } else if (!answer.isUnsettled()) {
            fail(ZooKeeperErrors.of(targets.path(), what, answer));
        } else if (mode == Mode.TRY) {
            fail(new LockConnectionException("lost the connection to ZooKeeper (" + answer.code()
                    + ") while trying for the lock " + targets.path() + "; try again"));
        } else {
            steps.pauseThen(session(), again);
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
            discardNodes();
            finish(Step.ENDED);
            last.run();
        }
    }

    private void finish(Step last) {
        steps.become(last);
        client.queueGuard().remove(this);
        client.sessions().forget(this);
        endTurn();
        if (session != null) {
            session.ignore(this);
        }
        client.exit(this);
    }

    private void endTurn() {
        if (turn != null) {
            turn.end();
            turn = null;
        }
        if (renewal != null) {
            renewal.end();
            renewal = null;
        }
    }

    private void discardNodes() {
        endTurn();
        Enqueue left = entry;
        if (left != null) {
            entry = null;
            client.queueGuard().remove(this);
            client.cleaner().discard(left.nodes());
        }
    }

    private Session session() {
        return Preconditions.checkNotNull(session, "no session in step %s", steps);
    }

    private List<OwnNode> nodes() {
        return Preconditions.checkNotNull(entry, "no node in step %s", steps).nodes();
    }
}
