// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import com.google.common.base.Preconditions;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.QueueLossPolicy;
import dev.zkrecipes.core.QueuePlaceLostException;
import dev.zkrecipes.core.internal.node.CounterReset;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.node.OwnNode;
import dev.zkrecipes.core.internal.queue.JointDecision;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.ChildrenSnapshot;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.thread.Guarded;
import dev.zkrecipes.core.internal.wire.CounterAge;
import dev.zkrecipes.core.internal.zk.ZooKeeperErrors;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * The loop of all recipes: one acquire, from the request to the grant or any other ending.
 *
 * <pre>
 *           SEEKING   a session; then PEEKING, if only a free lock will do, or the driver's own rule refuses it
 *              |
 *              v      create and list are sent together
 *  +----&gt; ENQUEUEING ---- no path -----&gt; MAKING_PATH, then ENQUEUEING
 *  |           |  \------ answer lost --&gt; SETTLING: ADOPTING what was made, or ENQUEUEING
 *  |           v
 *  |     CHECKING_ACL  if the lock has an ACL of its own and this session has not seen its path
 *  |           |
 *  |       (decide) ----- granted -----&gt; GRANTED, by way of PROVING, if no write was committed lately; from there
 *  |        |    ^                          ^     by way of LISTING, if our node is not known to stand
 *  |        v    |                          |
 *  |    WAITING  LISTING  in doubt          |
 *  |        +--- a predecessor is gone -----+
 *  |
 *  +-- own node gone, by way of PAUSED; by way of SEEKING, if the session has ended;
 *      by way of RESETTING, if the path's counter is near its end and nobody else is there
 * </pre>
 *
 * <p>A lost connection leads from any step but WAITING to PAUSED and, once there is a connection, to the same step
 * again. Any ending but GRANTED (ENDED) hands the nodes to the {@link dev.zkrecipes.core.internal.node.NodeCleaner}.
 *
 * <p>Several locks that are acquired as one have a node each, and what one driver grants stays granted while others do
 * not.
 *
 * <p>Confined to the engine thread, except for what callers do.
 */
public final class AcquireLoop extends AcquisitionTask<AcquireStep> implements Enqueue.Owner, Waiter {

    private final Requests requests;
    private final LockGroup group;
    private final Mode mode;
    private final BiConsumer<HeldNode, Optional<Content>> onHeld;

    private @Nullable Enqueue entry; // its nodes, while it has any that are not held
    private @Nullable ChildrenSnapshot list; // what it decides on, but while it waits
    private List<QueuePlace> places = List.of(); // of its nodes, while it waits
    private int proofs; // committed writes seen since it last started waiting
    private volatile boolean seenBusy;
    private volatile @Nullable LockException obstacle;

    public AcquireLoop(Requests requests, LockGroup group, Mode mode) {
        this(requests, group, mode, (held, rule) -> {});
    }

    /**
     * A request whose grants are reported to {@code onHeld} first.
     *
     * @param onHeld told on the engine thread, before anybody else, of each granted node and of the data of its path
     *     that the decision was based on
     */
    AcquireLoop(Requests requests, LockGroup group, Mode mode, BiConsumer<HeldNode, Optional<Content>> onHeld) {
        super(requests, AcquireStep.SEEKING, AcquireStep.PAUSED, AcquireStep.GRANTED, AcquireStep.ENDED);
        this.requests = requests;
        this.group = group;
        this.mode = mode;
        this.onHeld = onHeld;
    }

    @Override
    public String lockPath() {
        return group.path();
    }

    @Override
    public List<String> paths() {
        return group.paths();
    }

    @Override
    public boolean wasSeenBusy() {
        return seenBusy;
    }

    @Override
    public Optional<LockException> obstacle() {
        return Optional.ofNullable(obstacle);
    }

    @Override
    void start() {
        seek();
    }

    // ---- A session.

    @Override
    protected void onSession(Session found) {
        obstacle = null;
        for (int i = 0; i < group.paths().size(); i++) {
            requests.cleaner().flush(group.paths().get(i));
        }
        if (mode == Mode.QUEUE) {
            // What its own driver refuses is not queued before it is seen that the path's rule allows it.
            whenConnected(group.isHopeless() ? this::peek : this::enqueue);
        } else if (found.isConnected()) {
            peek();
        } else {
            fail(requests.notConnected(", so it cannot be seen whether the lock " + group.path()
                    + " is free; try again when connected, or use a timed acquire"));
        }
    }

    @Override
    public void notNow(LockException why) {
        obstacle = why;
        if (isIn(AcquireStep.SEEKING) && mode == Mode.TRY) {
            fail(why);
        }
    }

    @Override
    protected void onSessionEnded(State how) {
        boolean hadPlace = entry != null && entry.hasNode();
        leaveQueue();
        if (how == State.AUTH_FAILED) {
            fail(ZooKeeperErrors.credentialsRefused("the lock " + group.path() + " cannot be acquired"));
        } else if (mode == Mode.TRY) {
            fail(new LockConnectionException("the ZooKeeper session ended (" + how + ") while trying for the lock "
                    + group.path() + "; try again"));
        } else if (hadPlace && group.options().queueLossPolicy() == QueueLossPolicy.FAIL) {
            fail(placeLost("the ZooKeeper session has ended (" + how + ")"));
        } else {
            seek();
        }
    }

    // ---- Enqueue.

    private void peek() {
        become(AcquireStep.PEEKING);
        session().lists().ask(group.query(), inThisState(seen -> {
            if (seen.code() != Code.OK && seen.code() != Code.NONODE) {
                retryOrFail("list " + group.path(), seen.answer(), this::peek);
                return;
            }
            LockGroup.Strangers strangers = seen.code() == Code.OK ? group.strangersIn(seen) : null;
            if (strangers != null) {
                askFor(strangers, this::peek);
                return;
            }
            // Nodes of ours that are on their way out are gone before what this session sends next.
            JointDecision decision = JointDecision.onNewcomer(
                    group, seen, path -> requests.cleaner().leaving(path, session()));
            if (decision instanceof JointDecision.Never never) {
                fail(never.refusal());
            } else if (decision instanceof JointDecision.Granted || mode == Mode.QUEUE) {
                enqueue();
            } else {
                endAsBusyOrRefused();
            }
        }));
    }

    private void endAsBusyOrRefused() {
        refusalOfOwn().ifPresentOrElse(this::fail, this::endAsBusy);
    }

    /**
     * What stands in front may be a node of ours that ZooKeeper refuses to delete. If the request merely waited, the
     * caller would never learn why.
     */
    private Optional<LockException> refusalOfOwn() {
        return group.paths().stream()
                .flatMap(path -> requests.cleaner().refusalOn(path).stream())
                .findFirst();
    }

    private void enqueue() {
        Enqueue begun = new Enqueue(requests, group, session(), this, this);
        entry = begun;
        begun.create();
    }

    @Override
    public void onEntered(ChildrenSnapshot taken) {
        proofs = 1; // the create
        decide(taken);
    }

    // ---- Decide.

    private void decide(ChildrenSnapshot taken) {
        switch (taken.code()) {
            case OK -> {
                LockGroup.Strangers strangers = group.strangersIn(taken);
                if (strangers != null) {
                    askFor(strangers, this::askForList);
                    return;
                }
                resetPace();
                list = taken;
                requests.queues().accept(session(), group, taken);
                decide();
            }
            case NONODE -> onVanished();
            default -> retryOrFail("list " + group.path(), taken.answer(), this::askForList);
        }
    }

    private void decide() {
        OwnNode last = nodeNearTheEnd();
        if (last != null) {
            resetCounter(last);
            return;
        }
        JointDecision decision = JointDecision.onOwn(group, ownLockNodes(), list());
        if (decision instanceof JointDecision.Vanished) {
            onVanished();
        } else if (decision instanceof JointDecision.Never never) {
            fail(never.refusal());
        } else if (decision instanceof JointDecision.Granted) {
            grantWhenProven();
        } else if (mode == Mode.TRY) {
            endAsBusyOrRefused();
        } else {
            Optional<LockException> refusal = places.isEmpty() ? refusalOfOwn() : Optional.empty();
            refusal.ifPresentOrElse(this::fail, this::await);
        }
    }

    /** Children that only look like nodes of other locks are told apart first; then the list is taken again. */
    private void askFor(LockGroup.Strangers strangers, Runnable again) {
        session().lists().persistent().ask(strangers.paths(), inThisState(answer -> {
            if (answer.isOk()) {
                again.run();
            } else if (answer.code() == Code.NODEEXISTS) {
                fail(strangers.refusal());
            } else {
                retryOrFail("read the ACL of a node below " + group.path(), answer, again);
            }
        }));
    }

    /** One of ours whose number is too near the counter's end; null if there is none. */
    private @Nullable OwnNode nodeNearTheEnd() {
        for (OwnNode node : nodes()) {
            if (CounterAge.of(node.path()) >= CounterAge.WORN_OUT) {
                return node;
            }
        }
        return null;
    }

    /** A number this high is never granted. If ours is the only node, the counter is reset, and we enter again. */
    private void resetCounter(OwnNode own) {
        List<String> others = new ArrayList<>(list().names(own.lockPath()));
        if (!others.remove(own.name())) {
            onVanished();
        } else if (!others.isEmpty()) {
            fail(CounterReset.refusedFor(own.lockPath(), others));
        } else {
            become(AcquireStep.RESETTING);
            new CounterReset(session(), own.lockPath()).send(List.of(own), inThisState(answer -> {
                switch (answer.code()) {
                    case OK -> {
                        own.absent();
                        enterAnew();
                    }
                    case BADVERSION, NONODE -> askForList(); // somebody has changed the rule, or deleted our node
                    case NOTEMPTY, NOAUTH -> fail(CounterReset.refused(own.lockPath(), answer.code()));
                    default -> retryOrFail("reset the sequence counter of " + own.lockPath(), answer, this::enterAnew);
                }
            }));
        }
    }

    /** Also if it is not known whether our node is gone: another one has a name of its own. */
    private void enterAnew() {
        leaveQueue();
        enqueue();
    }

    /** Our nodes as the drivers see them. */
    private List<LockNode> ownLockNodes() {
        List<LockNode> own = new ArrayList<>(nodes().size());
        for (int i = 0; i < nodes().size(); i++) {
            own.add(group.all().get(i).parseOwn(nodes().get(i).name()));
        }
        return own;
    }

    // ---- Wait.

    private void await() {
        become(AcquireStep.WAITING);
        seenBusy = true;
        proofs = 0;
        if (places.isEmpty()) {
            enterViews();
        }
        list = null; // what the views know is newer, and a list is large
        if (isIn(AcquireStep.WAITING)) { // and not in doubt already
            // Ask again: under a changed rule, an earlier grant may no longer hold.
            List.copyOf(places).forEach(QueuePlace::ask);
            proceed();
        }
    }

    private void enterViews() {
        List<LockNode> own = ownLockNodes();
        List<QueuePlace> entered = new ArrayList<>();
        for (int i = 0; i < own.size(); i++) {
            LockSpec spec = group.all().get(i);
            entered.add(
                    requests.queues().at(session(), spec.path(), list()).enter(spec, nodes().get(i), own.get(i), this));
        }
        places = entered;
        entered.forEach(QueuePlace::watch); // last: it may tell at once
    }

    /** Grants when all places are granted, and all nodes are known to stand. */
    private void proceed() {
        if (!places.stream().allMatch(QueuePlace::isGranted)) {
            return; // onTurn() continues
        }
        boolean certain = places.stream().allMatch(QueuePlace::isStanding)
                && places.stream().noneMatch(QueuePlace::mayHaveNewNodeInFront);
        if (certain) {
            grantWhenProven();
        } else {
            askForList();
        }
    }

    @Override
    public void onTurn() {
        if (isIn(AcquireStep.WAITING)) {
            guard(this::proceed);
        }
    }

    @Override
    public void onOtherGone(String nodePath) {
        session().keepAlive().onNodeGone(nodePath);
        requests.cleaner().onNodeGone(nodePath);
    }

    /** Also if it is about to be granted by what was known before. */
    @Override
    public void onDoubt() {
        if (isIn(AcquireStep.WAITING) || isIn(AcquireStep.PROVING)) {
            guard(() -> whenConnected(this::askForList));
        }
    }

    private void askForList() {
        become(AcquireStep.LISTING);
        if (!session().isFreshlyProven() && proofs < 2) {
            session().prove(group.paths().get(0), inThisState(this::noteProof)); // in the same round trip
        }
        session().lists().ask(group.query(), inThisState(this::decide));
    }

    // ---- Grant.

    /**
     * A lease must not start on an old proof of the session. In that case a write is committed first, once for all
     * requests that need it.
     */
    private void grantWhenProven() {
        boolean proven = session().isFreshlyProven()
                || proofs > 1
                || (proofs == 1 && session().isProven());
        // A second extra write would not help: on a connection this slow no lease is ever valid.
        if (proven && !session().isOutlived()) {
            grant();
            return;
        }
        become(AcquireStep.PROVING);
        session().prove(group.paths().get(0), inThisState(answer -> {
            if (answer.code() == Code.NONODE) {
                askForList(); // which tells that our nodes are gone
            } else if (answer.isOk()) {
                noteProof(answer);
                if (isStanding()) {
                    grantWhenProven();
                } else {
                    askForList(); // our node is not watched, and may be gone by now
                }
            } else {
                retryOrFail("check " + group.path(), answer, this::askForList);
            }
        }));
    }

    /** Whether our nodes were there when everything had happened that is known. */
    private boolean isStanding() {
        return !places.isEmpty() && places.stream().allMatch(QueuePlace::isStanding);
    }

    private void noteProof(Answer<?> answer) {
        proofs += answer.isOk() ? 1 : 0;
    }

    private void grant() {
        List<OwnNode> nodes = nodes();
        List<HeldNode> held = new ArrayList<>(nodes.size());
        try {
            hold(nodes, held);
        } catch (Throwable t) {
            entry = null;
            held.forEach(node -> Guarded.run(() -> node.endAtOnce("an error came while it was granted")));
            nodes.stream()
                    .skip(held.size())
                    .forEach(node -> Guarded.run(() -> requests.cleaner().discard(node, new CompletableFuture<>())));
            throw t;
        }
        endAsGranted(held);
    }

    private void hold(List<OwnNode> nodes, List<HeldNode> held) {
        for (int i = 0; i < nodes.size(); i++) {
            OwnNode node = nodes.get(i);
            node.granted(
                    places.isEmpty()
                            ? list().names(node.lockPath()).size() == 1
                            : places.get(i).isAlone());
            HeldNode granted = new HeldNode(
                    group.all().get(i),
                    node,
                    node.fencingToken(),
                    group.holdAtMost(),
                    requests.scheduler(),
                    requests.cleaner());
            held.add(granted);
            granted.limitTime();
            onHeld.accept(
                    granted,
                    places.isEmpty()
                            ? list().rule(node.lockPath())
                            : places.get(i).rule());
        }
        entry = null;
        for (int i = 0; i < held.size(); i++) {
            session().keepAlive().add(held.get(i));
        }
        for (int i = 0; i < places.size(); i++) {
            places.get(i).leave(held.get(i)::onNodeGone);
        }
        places = List.of();
    }

    // ---- Retry.

    @Override
    public void retryOrFail(String what, Answer<?> answer, Runnable again) {
        if (answer.code() == Code.SESSIONEXPIRED) {
            session().become(State.EXPIRED);
        } else if (!answer.isUnsettled()) {
            fail(ZooKeeperErrors.of(group.path(), what, answer));
        } else if (mode == Mode.TRY) {
            fail(new LockConnectionException("lost the connection to ZooKeeper (" + answer.code()
                    + ") while trying for the lock " + group.path() + "; try again"));
        } else {
            proofs = 0; // those of another connection
            pauseThen(again);
        }
    }

    /** A node of ours is gone though the session lives: somebody deleted it. All enter again together. */
    @Override
    public void onVanished() {
        if (entry != null) {
            guard(this::enterAgain);
        }
    }

    private void enterAgain() {
        String names = OwnNode.describe(nodes());
        leaveQueue();
        if (group.options().queueLossPolicy() == QueueLossPolicy.FAIL) {
            fail(placeLost(
                    (group.isSingle() ? "its node " : "one of its nodes ") + names + " was deleted by somebody else"));
        } else {
            pauseThen(this::enqueue);
        }
    }

    private QueuePlaceLostException placeLost(String why) {
        return new QueuePlaceLostException("lost the place in the queue of the lock " + group.path() + ": " + why
                + "; acquire again, or use QueueLossPolicy.REQUEUE");
    }

    // ---- Endings.

    @Override
    void leave() {
        leaveQueue();
    }

    private void leaveQueue() {
        List<QueuePlace> leaving = places;
        places = List.of();
        leaving.forEach(place -> place.leave(() -> {}));
        Enqueue left = entry;
        if (left != null) {
            entry = null;
            requests.cleaner().discard(left.nodes());
        }
    }

    private List<OwnNode> nodes() {
        return Preconditions.checkNotNull(entry, "no node").nodes();
    }

    private ChildrenSnapshot list() {
        return Preconditions.checkNotNull(list, "no list");
    }
}
