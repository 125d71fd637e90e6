// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.acquire.Steps.Step;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.node.OwnNode;
import dev.zkrecipes.core.internal.queue.ChildrenSnapshot;
import dev.zkrecipes.core.internal.queue.JointDecision;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.wire.CounterAge;
import dev.zkrecipes.core.internal.zk.ZooKeeperErrors;
import dev.zkrecipes.core.spi.port.Answer;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;

/**
 * How nodes that stand in the queues get their turn: the drivers decide on a list; while they do not grant, what they wait
 * for is watched, and when that changes, a new list is decided on. A grant needs a write that was committed just now.
 * Confined to the engine thread.
 */
public final class Turn {

    /** The attempt, as its turn sees it. */
    public interface Owner extends Enqueue.Owner {
        /** Others have the lock; returns whether to wait for them. */
        boolean onBusy();

        /** The nodes cannot be granted, as the counter that one was numbered from is near its end. */
        void onWornOut();

        /** The nodes hold, each by its grant. The session's proof of life is fresh. */
        void onGranted(List<HeldNode> grants);
    }

    private final LockGroup targets;
    private final List<OwnNode> nodes;
    private final Session session;
    private final Steps steps;
    private final Owner owner;
    private final PredecessorWatch waits;
    private boolean confirmed = true; // by a write that was committed in or just before this step
    private boolean confirmedTwice;

    /** Begins with nodes that were made by a write that was committed just now. */
    public Turn(LockGroup targets, List<OwnNode> nodes, Session session, Steps steps, Owner owner) {
        this.targets = targets;
        this.nodes = nodes;
        this.session = session;
        this.steps = steps;
        this.owner = owner;
        this.waits = new PredecessorWatch(this::onChange, this::onWatchRefused);
    }

    /** Acts on a list. */
    public void decide(ChildrenSnapshot look) {
        switch (look.code()) {
            case OK -> {
                steps.resetPace();
                act(look);
            }
            case NONODE -> owner.onVanished();
            default -> owner.retryOrFail("list " + targets.path(), look.answer(), this::list);
        }
    }

    /** Waits for nothing any more. */
    public void end() {
        waits.clear(session.watches());
    }

    private void act(ChildrenSnapshot look) {
        if (nodes.stream().anyMatch(node -> CounterAge.of(node.name()) >= CounterAge.WORN_OUT)) {
            owner.onWornOut();
            return;
        }
        try {
            JointDecision verdict = JointDecision.onOwn(targets, nodes, look);
            if (verdict instanceof JointDecision.Vanished) {
                owner.onVanished();
            } else if (verdict instanceof JointDecision.Never never) {
                owner.fail(never.refusal());
            } else if (verdict instanceof JointDecision.Granted) {
                grantOrConfirm(look);
            } else if (verdict instanceof JointDecision.Wait wait && owner.onBusy()) {
                waits.waitFor(wait, session.watches());
            }
        } catch (LockException e) {
            owner.fail(e);
        }
    }

    /** Something that was waited for is gone or has changed. */
    private void onChange() {
        if (steps.isIn(Step.WAITING)) {
            list();
        }
    }

    private void onWatchRefused(String path, Answer<?> answer) {
        owner.fail(ZooKeeperErrors.of(targets.path(), "watch " + path, answer));
    }

    private void list() {
        steps.become(Step.LISTING);
        confirmed = session.isFreshlyProven();
        if (!confirmed) {
            // A lease must not start on an old proof. The list that follows tells if a node is gone.
            session.check(nodes.stream().map(OwnNode::path).toList(), steps.inThisStep(answer -> {
                confirmed = answer.isOk();
                if (!confirmed && answer.code() != Code.NONODE) {
                    owner.retryOrFail("check " + OwnNode.describe(nodes), answer, this::list);
                }
            }));
        }
        session.lists().ask(targets.query(), steps.inThisStep(this::decide));
    }

    private void grantOrConfirm(ChildrenSnapshot look) {
        boolean stillborn = session.isOutlived();
        if (!confirmed || stillborn || (!session.isProven() && !confirmedTwice)) {
            // Better a valid lease a moment later. Once more is enough: on a line that is too slow no lease is valid.
            confirmedTwice = confirmed;
            list();
            return;
        }
        List<HeldNode> grants = new ArrayList<>();
        for (int i = 0; i < nodes.size(); i++) {
            OwnNode node = nodes.get(i);
            node.granted(look.names(node.lockPath()).size() == 1);
            grants.add(new HeldNode(targets.all().get(i), node, HeldNode.token(node)));
        }
        owner.onGranted(grants);
    }
}
