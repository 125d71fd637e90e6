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
 * The request for the shared mode of a lock by the holder of its exclusive mode. One {@code multi} checks the exclusive
 * node and creates the shared one with the same number. At that place no node is in front that was not in front of the
 * exclusive node. If the exclusive hold is lost, nothing is created. No request behind is let in between.
 *
 * <p>The name is unique, and no other client makes it. So if the answer is lost, the same is sent again; if the node
 * exists then, the first attempt made it. Confined to the engine thread, except for what callers do.
 */
public final class Downgrade extends Acquisition {

    enum Step {
        STARTING,
        SENT,
        PAUSED
    }

    private final LockSpec spec;
    private final HeldNode exclusive;
    private final Session session;
    private final OwnNode node;
    private boolean sent;

    public Downgrade(Requests requests, LockSpec spec, HeldNode exclusive, Mode mode) {
        super(requests, LockGroup.of(spec), mode, Step.STARTING, Step.PAUSED);
        this.spec = spec;
        this.exclusive = exclusive;
        this.session = exclusive.session();
        this.node =
                OwnNode.atPlaceOf(exclusive.node(), spec, requests.scheduler().random());
    }

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
        if (sent) {
            node.sentAgain();
        }
        sent = true;
        node.count(); // without a limit: the exclusive node leaves soon, and nobody is to wait with it for room
        long sentAt = requests.scheduler().nanoTime();
        List<Op> operations = List.of(
                Op.check(exclusive.nodePath(), -1),
                Op.create(node.prefix(), requests.nodeData(spec, spec.options()), spec.acl(), CreateMode.EPHEMERAL));
        var next = inThisState(this::onAnswer);
        session.zk().multi(operations, answer -> {
            note(answer, sentAt);
            next.accept(answer);
        });
    }

    private void note(Answer<List<OpResult>> answer, long sentAt) {
        if (answer.isOk()) {
            session.committed(sentAt);
        }
        if (answer.isOk() || answer.code() == Code.NODEEXISTS) {
            node.created(LockPath.name(node.prefix()), exclusive.node().czxid());
        } else if (node.existence() == OwnNode.Existence.IN_FLIGHT) {
            node.failed(answer.code()); // of a later one, a refusal does not tell what became of the first
        }
    }

    private void onAnswer(Answer<List<OpResult>> answer) {
        if (node.existence() == OwnNode.Existence.CREATED) {
            grant();
        } else if (answer.code() == Code.NONODE) {
            exclusive.onNodeGone();
            fail(exclusive.lost());
        } else {
            retryOrFail("create the node " + node.describe(), answer, this::send);
        }
    }

    private void grant() {
        exclusive.requireNotLost();
        HoldLimit left = HoldLimit.withEndOf(exclusive.limit());
        HeldNode shared = new HeldNode(spec, node, left, requests.scheduler(), requests.cleaner);
        shared.limitTime();
        session.keepAlive().add(shared);
        endAsGranted(Grant.of(shared));
    }

    @Override
    protected void onSessionEnded(State how) {
        exclusive.lose("the ZooKeeper session has ended (" + how + ")");
        fail(exclusive.lost());
    }

    @Override
    void leave() {
        if (sent) {
            requests.cleaner.discard(List.of(node));
        }
    }
}
