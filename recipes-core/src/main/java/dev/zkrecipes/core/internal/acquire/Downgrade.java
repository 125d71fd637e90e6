// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.internal.clean.OwnNode;
import dev.zkrecipes.core.internal.hold.Grant;
import dev.zkrecipes.core.internal.hold.HeldNode;
import dev.zkrecipes.core.internal.hold.HoldLimit;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;

/**
 * A request for the shared mode of a lock by the holder of its exclusive mode. One {@code multi} checks that the
 * exclusive node exists and creates the shared node with the same number. No node is in front of that place that was
 * not in front of the exclusive node. So the request is granted at once, and no request that waits behind it gets in
 * between. If the exclusive hold is lost, nothing is created. If another thread has closed that hold meanwhile, the
 * request ends without a grant, and its caller has to queue.
 *
 * <p>The name of the shared node is unique, and no other client creates a node of that name. So if the answer is lost,
 * the same request is sent again; if the node exists then, an earlier attempt has created it. Confined to the engine
 * thread, except for the methods that callers use.
 */
public final class Downgrade extends Acquisition {

    enum Step {
        STARTING,
        SENT,
        PAUSED
    }

    private final LockSpec spec;
    private final HeldNode exclusive;
    private final Session session; // the session of the exclusive node, which no other can replace
    private final OwnNode node;

    public Downgrade(Requests requests, LockSpec spec, HeldNode exclusive, Mode mode) {
        super(requests, LockGroup.of(spec), mode, Step.STARTING, Step.PAUSED);
        this.spec = spec;
        this.exclusive = exclusive;
        this.session = exclusive.session();
        this.node =
                OwnNode.atPlaceOf(exclusive.node(), spec, requests.scheduler().random());
    }

    /** Begins in the session of the exclusive node. Fails if that session has ended. */
    @Override
    void start() {
        if (session.isEnded()) {
            onSessionEnded(session.state());
        } else {
            workIn(session);
            onSession(session);
        }
    }

    @Override
    protected void onSession(Session found) {
        if (mode == Mode.QUEUE || found.isConnected()) {
            whenConnected(this::send);
        } else {
            fail(requests.notConnected(
                    ", so the lock " + spec.path() + " cannot be taken in its shared mode; try again when connected"));
        }
    }

    private void send() {
        become(Step.SENT);
        if (node.existence() != OwnNode.Existence.ABSENT) {
            node.sentAgain();
        }
        // The limit of the session is not checked for this node: the exclusive node will be gone soon, and its holder
        // must not be refused because room is missing.
        node.count();
        long sentAt = requests.scheduler().nanoTime();
        List<Op> operations = List.of(
                Op.check(exclusive.nodePath(), -1),
                Op.create(
                        node.prefix(),
                        requests.nodeData(spec, spec.options(), List.of()),
                        spec.acl(),
                        CreateMode.EPHEMERAL));
        var next = inThisState(this::onAnswer);
        session.zk().multi(operations, answer -> {
            note(answer, sentAt);
            next.accept(answer);
        });
    }

    /**
     * Records what is known of the node. Its fencing token is that of the exclusive node, because the hold continues.
     */
    private void note(Answer<List<OpResult>> answer, long sentAt) {
        if (answer.isOk()) {
            session.committed(sentAt);
        }
        if (answer.isOk() || answer.code() == Code.NODEEXISTS) {
            node.created(LockPath.name(node.prefix()), exclusive.node().czxid());
        } else if (node.existence() == OwnNode.Existence.IN_FLIGHT) {
            // Only for the first attempt: a refusal of a later one does not show the outcome of the first.
            node.failed(answer.code());
        }
    }

    private void onAnswer(Answer<List<OpResult>> answer) {
        if (node.existence() == OwnNode.Existence.CREATED) {
            grant();
        } else if (answer.code() == Code.NONODE) {
            // Somebody has deleted the exclusive node.
            exclusive.onNodeGone();
            endWithoutExclusive();
        } else {
            retryOrFail("create the node " + node.describe(), answer, this::send);
        }
    }

    private void grant() {
        exclusive.requireNotLost();
        // The shared hold may last for the time that was left to the exclusive one.
        HoldLimit left = HoldLimit.withEndOf(exclusive.limit());
        HeldNode shared = new HeldNode(spec, node, left, requests.scheduler(), requests.cleaner);
        shared.limitTime();
        session.keepAlive().add(shared);
        endAsGranted(Grant.of(shared));
    }

    /** Both nodes are deleted with the session, so the exclusive hold is lost, unless it was closed before. */
    @Override
    protected void onSessionEnded(State how) {
        exclusive.lose("the ZooKeeper session has ended (" + how + ")");
        endWithoutExclusive();
    }

    /** Fails the request if the exclusive hold is lost. If another thread has closed it, there is nothing to keep. */
    private void endWithoutExclusive() {
        if (exclusive.isLost()) {
            fail(exclusive.lost());
        } else {
            endAsBusy();
        }
    }

    @Override
    void leave() {
        requests.cleaner.discard(List.of(node));
    }
}
