// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import com.google.common.base.Preconditions;
import dev.zkrecipes.core.DeadlockPolicy;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.QueueLossPolicy;
import dev.zkrecipes.core.QueuePlaceLostException;
import dev.zkrecipes.core.internal.clean.CounterReset;
import dev.zkrecipes.core.internal.clean.OwnNode;
import dev.zkrecipes.core.internal.hold.Grant;
import dev.zkrecipes.core.internal.hold.HeldNode;
import dev.zkrecipes.core.internal.hold.HoldLimit;
import dev.zkrecipes.core.internal.queue.ChildrenSnapshot;
import dev.zkrecipes.core.internal.queue.JointDecision;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.zk.ZooKeeperErrors;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * The loop of all recipes: one acquire, from the request to the grant or any other ending.
 *
 * <pre>
 *           SEEKING   waits for a session; then PEEKING, if only a free lock will do, or the driver's own rule
 *              |      refuses the request
 *              |
 *              v      create and list are sent together; the create alone, if the queue is known
 *  +----&gt; ENQUEUEING ---- no path -----&gt; ENQUEUEING, with the path; by way of MAKING_PATH, if that is refused
 *  |           |  \------ answer lost --&gt; SETTLING: ADOPTING what was made, or ENQUEUEING
 *  |           v
 *  |     CHECKING_ACL  if the lock has an ACL of its own and this session has not checked its path
 *  |           |
 *  |       (decide) ----- granted -----&gt; GRANTED, by way of PROVING, if no write was committed lately; from there
 *  |        |    ^                          ^     by way of LISTING, if our node is not known to stand
 *  |        v    |                          |
 *  |    WAITING  LISTING  in doubt          |
 *  |        +--- a predecessor is gone -----+     and the driver grants; by way of LISTING, if another node may
 *  |                                              have come in front
 *  |
 *  +-- own node gone, by way of PAUSED; by way of SEEKING, if the session has ended;
 *      by way of RESETTING, if the path's counter is near its end and nobody else is there
 * </pre>
 *
 * <p>A lost connection leads from any step but WAITING to PAUSED and, once there is a connection, to the same step
 * again. Any ending but GRANTED hands the nodes to the {@link dev.zkrecipes.core.internal.clean.NodeCleaner}, which
 * deletes them.
 *
 * <p>Several locks that are acquired as one have one node each. A lock that its driver has granted stays granted
 * while the request waits for the others.
 *
 * <p>Confined to the engine thread, except for the methods that callers use.
 */
public final class AcquireLoop extends Acquisition implements QueuePlace.Waiter {

    enum Step {
        SEEKING,
        PEEKING,
        ENQUEUEING,
        MAKING_PATH,
        SETTLING,
        ADOPTING,
        CHECKING_ACL,
        WAITING,
        LISTING,
        PROVING,
        RESETTING,
        PAUSED
    }

    /** The committed writes that it has seen since it last began to wait, or lost its connection. */
    private enum Proofs {
        NONE,
        ONE,
        SEVERAL;

        Proofs andOne() {
            return this == NONE ? ONE : SEVERAL;
        }
    }

    private static final String CREATE_NODE = "create a node below ";

    private final List<String> holds;
    private @Nullable CreateNodes creation; // its nodes, from their create until they are held or discarded
    private List<QueuePlace> places = List.of(); // of its nodes, while it waits
    private Proofs proofs = Proofs.NONE;

    /** {@code holds} are the paths of nodes that the asking thread holds, and releases itself. */
    public AcquireLoop(Requests requests, LockGroup group, Mode mode, List<String> holds) {
        super(requests, group, mode, Step.SEEKING, Step.PAUSED);
        this.holds = holds;
    }

    @Override
    void start() {
        seek();
    }

    // ---- A session.

    @Override
    protected void onSession(Session found) {
        obstacle = null;
        // So that the request does not queue behind an abandoned node of this client.
        requests.cleaner.flush(group.paths());
        if (mode == Mode.QUEUE) {
            // A driver whose own rule refuses the request may grant it under the rule of the path. The request looks
            // at that rule before it makes a node.
            whenConnected(group.isHopeless() ? this::peek : this::enqueue);
        } else if (found.isConnected()) {
            peek();
        } else {
            fail(requests.notConnected(", so it cannot be seen whether the lock " + group.path()
                    + " is free; wait for the connection first (awaitConnected), or use a timed acquire"));
        }
    }

    /** A request that queues waits for a session, and remembers why there is none. A try does not wait. */
    @Override
    public void notNow(LockException why) {
        obstacle = why;
        if (isIn(Step.SEEKING) && mode == Mode.TRY) {
            fail(why);
        }
    }

    /**
     * The nodes have gone with the session, and so has the place in the queue. Seeks another session, or fails if the
     * caller does not want that.
     */
    @Override
    protected void onSessionEnded(State how) {
        boolean hadPlace = creation != null && creation.hasNode();
        leave();
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

    /** Looks at the queues without entering them. */
    private void peek() {
        become(Step.PEEKING);
        session().lists().ask(group.query(), inThisState(this::onPeeked));
    }

    private void onPeeked(ChildrenSnapshot seen) {
        if (!isUsable(seen, this::peek)) {
            return;
        }
        // Nodes of ours whose deletion is on its way are gone before what this session sends next.
        JointDecision decision =
                JointDecision.onNewcomer(group, seen, path -> requests.cleaner.leaving(path, session()));
        if (decision instanceof JointDecision.Never never) {
            fail(never.refusal());
        } else if (decision instanceof JointDecision.Granted || mode == Mode.QUEUE) {
            creation = new CreateNodes(requests, group, session(), holds);
            if (seen.code() == Code.NONODE && creation().mayMakePaths()) {
                createWithPaths();
            } else {
                create();
            }
        } else {
            endAsBusyOrRefused();
        }
    }

    /** Ends a try that is not granted. */
    private void endAsBusyOrRefused() {
        refusalOfOwn().ifPresentOrElse(this::fail, this::endAsBusy);
    }

    /**
     * What stands in front may be a node of this client that ZooKeeper refuses to delete. If the request merely
     * waited, or the lock were just called busy, the caller would never learn why.
     */
    private Optional<LockException> refusalOfOwn() {
        return group.paths().stream()
                .flatMap(path -> requests.cleaner.refusalOn(path).stream())
                .findFirst();
    }

    private void enqueue() {
        creation = new CreateNodes(requests, group, session(), holds);
        create();
    }

    /**
     * Creates the nodes again, with new objects: every create has ids of its own, so that a late effect of an earlier
     * one cannot be mistaken for it.
     */
    private void createAnew() {
        creation = creation().anew();
        create();
    }

    /**
     * Sends the create and, unless the queues are known, the list, without waiting for the answer: the server answers
     * one after the other, so the two take one round trip. As long as it is not known whether the client has the
     * rights that the lock's own ACL names, the list waits for the answer to the create.
     */
    private void create() {
        become(Step.ENQUEUEING);
        CreateNodes created = creation();
        if (created.knowsQueues()) {
            created.send(inThisState(this::onCreatedOnKeptViews));
        } else if (created.expectsNewPaths()) {
            createWithPaths();
        } else if (created.knowsRights()) {
            created.send(inThisState(this::onCreated));
            // If the create fails, the step has changed by the time this answer comes, and the answer is dropped.
            session().lists().ask(group.query(), inThisState(this::onListed));
        } else {
            created.sendTogether(inThisState(answer -> {
                onCreated(answer);
                if (answer.isOk()) {
                    checkAccess();
                }
            }));
        }
    }

    /** The numbers of the nodes tell whether anybody else was there. If so, the list is asked for now. */
    private void onCreatedOnKeptViews(Answer<?> answer) {
        onCreated(answer);
        if (!answer.isOk()) {
            return;
        } else if (creation().areQueuesKnown()) {
            decideFirst(creation().known());
        } else {
            session().lists().ask(group.query(), inThisState(this::onListed));
        }
    }

    private void onCreated(Answer<?> answer) {
        switch (answer.code()) {
            case OK -> {}
            case NONODE -> {
                if (creation().mayMakePaths()) {
                    creation = creation().anew();
                    createWithPaths();
                } else {
                    makePaths(0);
                }
            }
            default -> retryOrFail(CREATE_NODE + group.path(), answer, this::settle);
        }
    }

    /** Makes the paths together with the nodes. If that is refused, the nodes are created as if nothing was known. */
    private void createWithPaths() {
        become(Step.ENQUEUEING);
        creation().sendWithPaths(inThisState(answer -> {
            switch (answer.code()) {
                case OK -> decideFirst(creation().made());
                case NONODE -> makePaths(0); // what is above a path is missing, too
                case NODEEXISTS, NOAUTH, BADARGUMENTS, UNIMPLEMENTED, MARSHALLINGERROR -> createAnew();
                default -> retryOrFail(CREATE_NODE + group.path(), answer, this::settle);
            }
        }));
    }

    /** Makes the paths one after another, beginning with this index, and then creates the nodes anew. */
    private void makePaths(int from) {
        if (from == group.all().size()) {
            createAnew();
            return;
        }
        become(Step.MAKING_PATH);
        String path = group.paths().get(from);
        creation().makePath(from, inThisState(answer -> {
            switch (answer.code()) {
                case OK, NODEEXISTS -> makePaths(from + 1);
                case NONODE ->
                    fail(new LockException(requests.rootName + " does not exist, so the lock " + path
                            + " cannot be made; create the chroot node first"));
                default -> retryOrFail(ZooKeeperErrors.CREATE_PATH + path, answer, this::createAnew);
            }
        }));
    }

    /** The nodes exist: a write that was committed just now proves that, and the list was taken after the write. */
    private void onListed(ChildrenSnapshot taken) {
        if (taken.code() != Code.OK || creation().isAsChecked(taken)) {
            creation().keep(taken);
            decideFirst(taken);
        } else {
            checkAccess();
        }
    }

    /** Decides for the first time after the create, which is a committed write. */
    private void decideFirst(ChildrenSnapshot queues) {
        proofs = Proofs.ONE;
        decide(queues);
    }

    /**
     * Compares the ACL of each path with that of our node below it, and lists again. While the path has our node,
     * nobody can replace the path by another one.
     */
    private void checkAccess() {
        become(Step.CHECKING_ACL);
        creation().checkAcls(inThisState(answer -> {
            switch (answer.code()) {
                case OK -> answer.value().ifPresent(this::fail);
                case NONODE -> enterAgain();
                default -> retryOrFail("read the ACLs of the lock path and its nodes", answer, this::settle);
            }
        }));
        session().lists().ask(group.query(), inThisState(this::onListed));
    }

    // ---- Settle.

    /**
     * Finds out what became of a create whose answer was lost. The list comes behind a committed write, so it shows
     * whatever the create has made.
     */
    private void settle() {
        become(Step.SETTLING);
        session().lists().askBehindWrite(group.query(), inThisState(seen -> {
            switch (seen.code()) {
                case OK, NONODE -> adoptOrCreate(seen);
                default -> retryOrFail("list " + group.path(), seen.answer(), this::settle);
            }
        }));
    }

    private void adoptOrCreate(ChildrenSnapshot seen) {
        boolean wasThere = creation().hasNode();
        List<OwnNode> missing = creation().noteFound(seen);
        if (missing.isEmpty()) {
            adopt();
        } else if (wasThere) {
            missing.forEach(OwnNode::absent);
            enterAgain(); // all were made together, so somebody has deleted those that are missing
        } else if (missing.size() == nodes().size()) {
            // In rare cases a server makes them later, so the cleaner looks for them again.
            missing.forEach(requests.cleaner::missed);
            createAnew();
        } else {
            // Paths that are listed one by one may be seen some before and some after the create.
            settle();
        }
    }

    /**
     * Nodes that were found are ours only if they belong to this session, so their owner is read. They are listed
     * again, because meanwhile other requests may have been told of a later list than the one that showed the nodes.
     */
    private void adopt() {
        become(Step.ADOPTING);
        creation().claim(inThisState(answer -> {
            switch (answer.code()) {
                case OK -> {}
                case NONODE -> enterAgain();
                default -> retryOrFail("read " + OwnNode.describe(nodes()), answer, this::settle);
            }
        }));
        // If the nodes are not ours, the step has changed by the time this answer comes, and the answer is dropped.
        session().lists().ask(group.query(), inThisState(this::onListed));
    }

    // ---- Decide.

    /**
     * Decides on a list in which our nodes should be. The queue views, which other requests of this client share,
     * take over the list first.
     */
    private void decide(ChildrenSnapshot taken) {
        if (taken.code() == Code.NONODE) {
            onVanished();
            return;
        } else if (!isUsable(taken, this::askForList)) {
            return;
        }
        resetPace();
        requests.tell(session(), group.paths(), taken);
        CreateNodes own = creation();
        OwnNode last = own.nodeNearTheEnd();
        if (last != null) {
            resetCounter(last, taken);
            return;
        }
        JointDecision decision = JointDecision.onOwn(group, own.parsed(), taken);
        if (decision instanceof JointDecision.Vanished) {
            onVanished();
        } else if (decision instanceof JointDecision.Never never) {
            fail(never.refusal());
        } else if (decision instanceof JointDecision.Granted) {
            // A holder that was alone resets an old counter when it leaves.
            for (OwnNode node : own.nodes) {
                node.seenAlone(taken.names(node.lockPath()).size() == 1);
            }
            grantWhenProven();
        } else if (mode == Mode.TRY) {
            endAsBusyOrRefused();
        } else if (decision instanceof JointDecision.Wait wait) {
            // A node of ours that cannot be deleted is a reason to fail only when the wait begins.
            Optional<LockException> refusal = places.isEmpty() ? refusalOfOwn() : Optional.empty();
            refusal.ifPresentOrElse(this::fail, () -> await(taken, wait.each()));
        }
    }

    /**
     * Whether the list shows the queues, or that there are none. If not, {@code again} runs: after a pause if there
     * was no answer; or when the server has said that children which look like nodes of another kind of lock are
     * none. If one of them is such a node, the request fails.
     */
    private boolean isUsable(ChildrenSnapshot seen, Runnable again) {
        if (seen.code() != Code.OK && seen.code() != Code.NONODE) {
            retryOrFail("list " + group.path(), seen.answer(), again);
            return false;
        }
        LockGroup.Strangers strangers = group.strangersIn(seen);
        if (strangers != null) {
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
        return strangers == null;
    }

    /**
     * The number of our node is too near the end of the path's counter to be granted. If ours is the only node, the
     * counter is reset and the request enters anew. Otherwise the request is refused.
     */
    private void resetCounter(OwnNode own, ChildrenSnapshot taken) {
        List<String> others = new ArrayList<>(taken.names(own.lockPath()));
        if (!others.remove(own.name())) {
            onVanished();
        } else if (!others.isEmpty()) {
            fail(CounterReset.refusedFor(own.lockPath(), others));
        } else {
            become(Step.RESETTING);
            new CounterReset(session(), own.lockPath()).send(List.of(own), inThisState(answer -> {
                switch (answer.code()) {
                    case OK -> {
                        own.absent();
                        session().keptViews().remove(own.lockPath()); // the path was replaced by a new one
                        enterAnew();
                    }
                    case BADVERSION, NONODE -> askForList(); // somebody has changed the rule, or deleted our node
                    case NOTEMPTY, NOAUTH -> fail(CounterReset.refused(own.lockPath(), answer.code()));
                    default -> retryOrFail("reset the sequence counter of " + own.lockPath(), answer, this::enterAnew);
                }
            }));
        }
    }

    /** Queues again, even if it is not known whether our node is gone: the new node has another name. */
    private void enterAnew() {
        leave();
        enqueue();
    }

    // ---- Wait.

    /**
     * Waits with the decisions of the drivers on this list. The proofs of the session that were seen so far will be
     * too old when the wait is over.
     */
    private void await(ChildrenSnapshot taken, List<Decision> decided) {
        become(Step.WAITING);
        seenBusy = true;
        proofs = Proofs.NONE;
        if (places.isEmpty()) {
            enterQueues(taken);
        }
        if (isIn(Step.WAITING)) { // unless the request came into doubt when it entered
            List<QueuePlace> entered = places;
            for (int i = 0; i < entered.size(); i++) {
                entered.get(i).enter(taken, decided.get(i));
            }
            onTurn();
        }
    }

    private void enterQueues(ChildrenSnapshot taken) {
        List<LockNode> own = creation().parsed();
        List<QueuePlace> entered = new ArrayList<>(own.size());
        for (int i = 0; i < own.size(); i++) {
            LockSpec spec = group.all().get(i);
            QueueView view = requests.queue(session(), spec.path(), taken);
            entered.add(view.place(spec, nodes().get(i), own.get(i), this));
        }
        places = entered;
        entered.forEach(QueuePlace::watch); // last: a watch may tell at once
    }

    /**
     * Grants once all places are granted. If a node of ours is not known to stand, or another node may have come in
     * front, a list is taken first.
     */
    @Override
    public void onTurn() {
        if (isIn(Step.WAITING) && places.stream().allMatch(QueuePlace::isGranted)) {
            guard(() -> {
                if (isStanding() && places.stream().noneMatch(QueuePlace::mayHaveNewNodeInFront)) {
                    grantWhenProven();
                } else {
                    askForList();
                }
            });
        }
    }

    /** Takes a list, even if the request is about to be granted by what was known before. */
    @Override
    public void onDoubt() {
        if (isIn(Step.WAITING) || isIn(Step.PROVING)) {
            guard(() -> whenConnected(this::askForList));
        }
    }

    /**
     * Takes a list to decide on. If a grant would need a committed write as proof, the write is sent along, so that
     * both take one round trip.
     */
    private void askForList() {
        become(Step.LISTING);
        if (!session().isFreshlyProven() && proofs != Proofs.SEVERAL) {
            session().prove(group.paths().get(0), inThisState(this::noteProof));
        }
        session().lists().ask(group.query(), inThisState(this::decide));
    }

    /** The paths of its nodes while it waits in the queues; none otherwise. */
    public List<String> waitingNodes() {
        return isIn(Step.WAITING) ? nodes().stream().map(OwnNode::path).toList() : List.of();
    }

    /** The session of these nodes. Only while it waits. */
    public Session sessionOfWait() {
        return session();
    }

    /** The paths of nodes that the asking thread held when it asked. */
    public List<String> holds() {
        return holds;
    }

    public DeadlockPolicy deadlockPolicy() {
        return group.options().deadlockPolicy();
    }

    // ---- Grant.

    /**
     * Grants if the session is proven to live. A lease must not start on an old proof, so if there is no fresh one, a
     * write is committed first: one write for all requests that need it at that time.
     */
    private void grantWhenProven() {
        Session session = session();
        boolean proven =
                session.isFreshlyProven() || proofs == Proofs.SEVERAL || (proofs == Proofs.ONE && session.isProven());
        // A second extra write would not help: on a connection this slow no lease is ever valid.
        if (proven && !session.isOutlived()) {
            grant();
            return;
        }
        become(Step.PROVING);
        session.prove(group.paths().get(0), inThisState(answer -> {
            if (answer.code() == Code.NONODE) {
                askForList(); // the list tells that our nodes are gone
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

    /** Whether our nodes are known to have existed after every change that is known. */
    private boolean isStanding() {
        return !places.isEmpty() && places.stream().allMatch(QueuePlace::isStanding);
    }

    private void noteProof(Answer<?> answer) {
        if (answer.isOk()) {
            proofs = proofs.andOne();
        }
    }

    /** Turns the nodes into held ones. The time that a hold may last begins before anybody is told of the grant. */
    private void grant() {
        List<OwnNode> nodes = nodes();
        List<HeldNode> held = new ArrayList<>(nodes.size());
        for (int i = 0; i < nodes.size(); i++) {
            HoldLimit limit = HoldLimit.of(group, requests.scheduler());
            held.add(new HeldNode(group.all().get(i), nodes.get(i), limit, requests.scheduler(), requests.cleaner));
            held.get(i).limitTime();
        }
        creation = null; // from now on, the nodes are those of the grant
        held.forEach(session().keepAlive()::add);
        for (int i = 0; i < places.size(); i++) {
            nodes.get(i).seenAlone(places.get(i).isAlone());
            // The watch of the node stays, and from now on tells the holder.
            places.get(i).leave(held.get(i)::onNodeGone);
        }
        places = List.of();
        endAsGranted(Grant.of(held));
    }

    // ---- Retry.

    @Override
    void retryOrFail(String what, Answer<?> answer, Runnable again) {
        proofs = Proofs.NONE; // they were seen on another connection
        super.retryOrFail(what, answer, again);
    }

    /**
     * A node of ours is gone although the session lives, so somebody has deleted it. All nodes enter again together.
     */
    @Override
    public void onVanished() {
        if (creation != null) {
            guard(this::enterAgain);
        }
    }

    /** Leaves and, unless the caller wants to hear of the lost place, enters again after a pause. */
    private void enterAgain() {
        String names = OwnNode.describe(nodes());
        leave();
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

    /** Leaves the queues, if it is in any, and hands the nodes to the cleaner. */
    @Override
    void leave() {
        List<QueuePlace> leaving = places;
        places = List.of();
        leaving.forEach(place -> place.leave(() -> {}));
        CreateNodes left = creation;
        if (left != null) {
            creation = null;
            requests.cleaner.discard(left.nodes);
        }
    }

    private CreateNodes creation() {
        return Preconditions.checkNotNull(creation, "no node");
    }

    private List<OwnNode> nodes() {
        return creation().nodes;
    }
}
