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
 * The state machine that all recipes share: one acquire, from the request to the grant or another outcome.
 *
 * <pre>
 *           SEEKING   waits for a session; then PEEKING, if the request is a try or the driver's own rule
 *              |      refuses it
 *              |
 *              v      sends create and list together, or only the create if the queue is known
 *  +----&gt; ENQUEUEING ---- no path -----&gt; ENQUEUEING, creating path and node together; or via MAKING_PATH
 *  |           |  \------ answer lost --&gt; SETTLING: ADOPTING the nodes that exist, or ENQUEUEING
 *  |           v
 *  |     CHECKING_ACL  if the lock has its own ACL and this session has not checked its path
 *  |           |
 *  |       (decide) ----- granted -----&gt; GRANTED, via PROVING if no recent write proves the session alive, and from
 *  |        |    ^                          ^     there via LISTING if our node is not known to exist
 *  |        v    |                          |
 *  |    WAITING  LISTING  when in doubt     |
 *  |        +--- a predecessor is gone -----+     and the driver grants; via LISTING if another node may have
 *  |                                              appeared in front
 *  |
 *  +-- own node gone: via PAUSED, or via SEEKING if the session has ended;
 *      path's counter nearly used up and nobody else there: via RESETTING
 * </pre>
 *
 * <p>If a step loses its connection, the request is PAUSED until there is a connection. It then repeats the step, or
 * first finds out what became of a write. WAITING is not interrupted, and a try fails instead. Any ending but GRANTED
 * hands the nodes to the {@link dev.zkrecipes.core.internal.clean.NodeCleaner}, which deletes them.
 *
 * <p>A request for several locks has one node for each of them. A lock that its driver has granted stays granted while
 * the request waits for the others.
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

    /** How many committed writes the request has seen since it last began to wait or lost its connection. */
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
    private @Nullable CreateNodes creation; // the request's nodes, from their create until they are held or discarded
    private List<QueuePlace> places = List.of(); // the places of the nodes while the request waits
    private Proofs proofs = Proofs.NONE;

    /** {@code holds} are the paths of the nodes that the requesting thread holds and must release itself. */
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
        // Otherwise the request would queue behind an abandoned node of this client.
        requests.cleaner.flush(group.paths());
        if (mode == Mode.QUEUE) {
            // The driver's own rule may refuse a request that the rule of the path grants. The request reads that rule
            // before it creates a node.
            whenConnected(group.isHopeless() ? this::peek : this::enqueue);
        } else if (found.isConnected()) {
            peek();
        } else {
            fail(requests.notConnected(", so it cannot be seen whether the lock " + group.path()
                    + " is free; wait for the connection first (awaitConnected), or use a timed acquire"));
        }
    }

    /** Records why there is no session. A request that queues continues to wait for one; a try fails. */
    @Override
    public void notNow(LockException why) {
        obstacle = why;
        if (isIn(Step.SEEKING) && mode == Mode.TRY) {
            fail(why);
        }
    }

    /**
     * Handles the end of the session, which has deleted the nodes and with them the place in the queue. Seeks another
     * session, or fails the request if it is a try or if the queue-loss policy says so. If the credentials were
     * refused, the source of the sessions decides whether another session may have better ones.
     */
    @Override
    protected void onSessionEnded(State how) {
        boolean hadPlace = creation != null && creation.hasNode();
        leave();
        boolean seeks = mode == Mode.QUEUE && !(hadPlace && group.options().queueLossPolicy() == QueueLossPolicy.FAIL);
        if (seeks) {
            seek();
        } else if (how == State.AUTH_FAILED) {
            fail(ZooKeeperErrors.credentialsRefused("the lock " + group.path() + " cannot be acquired"));
        } else if (mode == Mode.TRY) {
            fail(new LockConnectionException("the ZooKeeper session ended (" + how + ") while trying for the lock "
                    + group.path() + "; try again"));
        } else {
            fail(placeLost("the ZooKeeper session has ended (" + how + ")"));
        }
    }

    // ---- Enqueue.

    /** Lists the queues without entering them. */
    private void peek() {
        become(Step.PEEKING);
        session().lists().ask(group.query(), inThisState(this::onPeeked));
    }

    private void onPeeked(ChildrenSnapshot seen) {
        if (!isUsable(seen, this::peek)) {
            return;
        }
        // A node of ours whose deletion is under way is gone before the server handles what this session sends next.
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

    /**
     * Ends a try that is not granted: fails it if a node of this client cannot be deleted, and otherwise reports the
     * lock as busy.
     */
    private void endAsBusyOrRefused() {
        refusalOfOwn().ifPresentOrElse(this::fail, this::endAsBusy);
    }

    /**
     * Returns the error with which ZooKeeper refused to delete a node of this client on one of the paths; empty if
     * there is none. Such a node may be in front of the request. If the request merely waited, or reported the lock as
     * busy, the caller would never learn why.
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
     * Creates the nodes again as new objects: every create has its own ids, so that a late effect of an earlier create
     * cannot be mistaken for an effect of this one.
     */
    private void createAnew() {
        creation = creation().anew();
        create();
    }

    /**
     * Sends the create and, unless the queues are known, the list, without waiting for the answer to the create. The
     * server answers requests in order, so the two take one round trip. As long as it is not known whether the client
     * has the rights that the lock's own ACL grants, the list is sent only after the create was answered.
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
            // Sent without waiting for the create. If the create fails, the request is in another step by the time the
            // list is answered, and ignores the list.
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

    /**
     * Handles the answer to a create that was sent without a list. The numbers of the nodes show whether anybody else
     * has created a node. If so, the list is requested now.
     */
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

    /**
     * Creates the paths together with the nodes. If a folder above a path is missing, creates the paths one by one. If
     * the server refuses for another reason, such as an existing path, creates only the nodes.
     */
    private void createWithPaths() {
        become(Step.ENQUEUEING);
        creation().sendWithPaths(inThisState(answer -> {
            switch (answer.code()) {
                case OK -> decideFirst(creation().made());
                case NONODE -> makePaths(0); // a folder above the path is missing, too
                case NODEEXISTS, NOAUTH, BADARGUMENTS, UNIMPLEMENTED, MARSHALLINGERROR -> createAnew();
                default -> retryOrFail(CREATE_NODE + group.path(), answer, this::settle);
            }
        }));
    }

    /** Creates the paths one by one, starting at this index, and then creates the nodes anew. */
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

    /**
     * Handles a list that was taken after a committed write of this session, which proves that the nodes exist. Decides
     * on the list, unless an ACL has to be checked first.
     */
    private void onListed(ChildrenSnapshot taken) {
        if (taken.code() != Code.OK || creation().isAsChecked(taken)) {
            creation().keep(taken);
            decideFirst(taken);
        } else {
            checkAccess();
        }
    }

    /** Decides for the first time. The committed write that came before is the first proof. */
    private void decideFirst(ChildrenSnapshot queues) {
        proofs = Proofs.ONE;
        decide(queues);
    }

    /**
     * Compares the ACL of each path with that of our node below it, and lists again. While our node exists, nobody can
     * delete and recreate its path.
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
     * Finds out the outcome of a create whose answer was lost. The list follows a committed write, so it shows whatever
     * the create has created.
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
            enterAgain(); // one request created all nodes, so somebody has deleted the missing ones
        } else if (missing.size() == nodes().size()) {
            // In rare cases a server still carries out the create later, so the cleaner looks for the nodes again.
            missing.forEach(requests.cleaner::missed);
            createAnew();
        } else {
            // Paths that are listed one by one may have been listed partly before and partly after the create.
            settle();
        }
    }

    /**
     * Claims the nodes that were found. They are ours only if they belong to this session, so their owner is read. The
     * queues are listed again, because other requests may meanwhile have received a later list than the one that showed
     * the nodes.
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
        // If the nodes are not ours, the step has changed by the time the list is answered, and that answer is dropped.
        session().lists().ask(group.query(), inThisState(this::onListed));
    }

    // ---- Decide.

    /**
     * Decides on a list that should show our nodes. The queue views, which other requests of this client share, receive
     * the list first.
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
            // A holder that was alone in the queue resets an old counter when it leaves.
            for (OwnNode node : own.nodes) {
                node.seenAlone(taken.names(node.lockPath()).size() == 1);
            }
            grantWhenProven();
        } else if (mode == Mode.TRY) {
            endAsBusyOrRefused();
        } else if (decision instanceof JointDecision.Wait wait) {
            // A node of ours that cannot be deleted fails the request only when the wait begins.
            Optional<LockException> refusal = places.isEmpty() ? refusalOfOwn() : Optional.empty();
            refusal.ifPresentOrElse(this::fail, () -> await(taken, wait.each()));
        }
    }

    /**
     * Returns whether the list can be decided on: it shows the queues, or shows that there are none. If not,
     * {@code again} runs later, unless the request fails. If there was no answer, it runs after a pause. If there are
     * children that look like nodes of another kind of lock, it runs once the server has said that none of them is a
     * lock node; if one of them is, the request fails.
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
     * Handles a node of ours whose number is too close to the end of the path's counter to be granted. If it is the
     * only node, resets the counter and enters the queue anew. Otherwise fails the request.
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
                        session().keptViews().remove(own.lockPath()); // the path was recreated
                        enterAnew();
                    }
                    case BADVERSION, NONODE -> askForList(); // somebody has changed the rule or deleted our node
                    case NOTEMPTY, NOAUTH -> fail(CounterReset.refused(own.lockPath(), answer.code()));
                    default -> retryOrFail("reset the sequence counter of " + own.lockPath(), answer, this::enterAnew);
                }
            }));
        }
    }

    /** Enters the queue anew, even if our old node may still exist: the new node has another name. */
    private void enterAnew() {
        leave();
        enqueue();
    }

    // ---- Wait.

    /**
     * Waits according to the drivers' decisions on this list. Drops the proofs seen so far, which will be too old when
     * the wait ends.
     */
    private void await(ChildrenSnapshot taken, List<Decision> decided) {
        become(Step.WAITING);
        seenBusy = true;
        proofs = Proofs.NONE;
        if (places.isEmpty()) {
            enterQueues(taken);
        }
        if (isIn(Step.WAITING)) { // entering may have put the request in doubt
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
        entered.forEach(QueuePlace::watch); // last: a watch may call back at once
    }

    /**
     * Grants if all places are granted. If another node may have appeared in front, or a node of ours is not known to
     * exist, requests a list first. If that is only because a watch of our nodes is not answered yet, waits for the
     * answer.
     */
    @Override
    public void onTurn() {
        if (isIn(Step.WAITING) && places.stream().allMatch(QueuePlace::isGranted)) {
            guard(() -> {
                if (places.stream().anyMatch(QueuePlace::mayHaveNewNodeInFront)) {
                    askForList();
                } else if (isStanding()) {
                    grantWhenProven();
                } else if (!places.stream().allMatch(place -> place.isStanding() || place.isAboutToStand())) {
                    askForList();
                }
            });
        }
    }

    /** Requests a list, even if the request is about to be granted on the basis of earlier knowledge. */
    @Override
    public void onDoubt() {
        if (isIn(Step.WAITING) || isIn(Step.PROVING)) {
            guard(() -> whenConnected(this::askForList));
        }
    }

    /**
     * Requests a list to decide on. If a grant would need a committed write as proof, the write is sent along, so that
     * both take one round trip.
     */
    private void askForList() {
        become(Step.LISTING);
        if (!session().isFreshlyProven() && proofs != Proofs.SEVERAL) {
            session().prove(group.paths().get(0), inThisState(this::noteProof));
        }
        session().lists().ask(group.query(), inThisState(this::decide));
    }

    /** Returns the paths of the request's nodes while it waits in the queues; otherwise an empty list. */
    public List<String> waitingNodes() {
        return isIn(Step.WAITING) ? nodes().stream().map(OwnNode::path).toList() : List.of();
    }

    /** Returns the session of these nodes. Call only while the request waits. */
    public Session sessionOfWait() {
        return session();
    }

    public DeadlockPolicy deadlockPolicy() {
        return group.options().deadlockPolicy();
    }

    // ---- Grant.

    /**
     * Grants if the session is proven to be alive. A lease must not start on an old proof, so without a fresh one a
     * write is committed first: one write for all requests that need a proof at that time.
     */
    private void grantWhenProven() {
        Session session = session();
        boolean proven =
                session.isFreshlyProven() || proofs == Proofs.SEVERAL || (proofs == Proofs.ONE && session.isProven());
        // After several proofs, another write would not help: if none of them was fresh, the connection is so slow that
        // no lease is ever valid on it.
        if (proven && !session.isOutlived()) {
            grant();
            return;
        }
        become(Step.PROVING);
        session.prove(group.paths().get(0), inThisState(answer -> {
            noteProof(answer);
            if (answer.isOk() && isStanding()) {
                grantWhenProven();
            } else if (Session.isCommitted(answer)) {
                // Our node is not watched, so it may be gone by now. Or the check was refused, perhaps because of the
                // path of another request. The list shows what is true of our own path.
                askForList();
            } else {
                retryOrFail("check " + group.path(), answer, this::askForList);
            }
        }));
    }

    /** Whether our nodes are known to have existed after every known change. */
    private boolean isStanding() {
        return !places.isEmpty() && places.stream().allMatch(QueuePlace::isStanding);
    }

    private void noteProof(Answer<?> answer) {
        if (Session.isCommitted(answer)) {
            proofs = proofs.andOne();
        }
    }

    /** Turns the nodes into held ones. Their time limit begins before anybody is notified of the grant. */
    private void grant() {
        List<OwnNode> nodes = nodes();
        List<HeldNode> held = new ArrayList<>(nodes.size());
        for (int i = 0; i < nodes.size(); i++) {
            HoldLimit limit = HoldLimit.of(group, requests.scheduler());
            held.add(new HeldNode(group.all().get(i), nodes.get(i), limit, requests.scheduler(), requests.cleaner));
            held.get(i).limitTime();
        }
        creation = null; // from now on, the nodes belong to the grant
        held.forEach(session().keepAlive()::add);
        for (int i = 0; i < places.size(); i++) {
            nodes.get(i).seenAlone(places.get(i).isAlone());
            // The watch of the node stays, and notifies the holder from now on.
            places.get(i).leave(held.get(i)::onNodeGone);
        }
        places = List.of();
        endAsGranted(Grant.of(held));
    }

    // ---- Retry.

    @Override
    void retryOrFail(String what, Answer<?> answer, Runnable again) {
        proofs = Proofs.NONE; // proofs from an earlier connection do not count
        super.retryOrFail(what, answer, again);
    }

    /**
     * Handles the deletion of a node of ours in a live session, which means that somebody else has deleted it. All
     * nodes enter again together.
     */
    @Override
    public void onVanished() {
        if (creation != null) {
            guard(this::enterAgain);
        }
    }

    /**
     * Leaves the queues. Then enters them again after a pause, or fails the request if the queue-loss policy says so.
     */
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

    /** Leaves the queues, if the request is in any, and hands its nodes to the cleaner. */
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
