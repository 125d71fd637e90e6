// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.Steps.Step;
import dev.zkrecipes.core.spi.Answer;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;

/**
 * How nodes that stand in the queues get their turn: the drivers decide on a list; while they do not grant, what they wait
 * for is watched, and when that changes, a new list is decided on. A grant needs a write that was committed just now.
 * Confined to the engine thread.
 */
final class Turn {

    /** The attempt, as its turn sees it. */
    interface Owner extends QueueEntry.Owner {
        /** Others have the lock; returns whether to wait for them. */
        boolean onBusy();

        /** The nodes cannot be granted, as the counter that one was numbered from is near its end. */
        void onWornOut();

        /** The nodes hold, each by its grant. The session's proof of life is fresh. */
        void onGranted(List<Grant> grants);
    }

    private final LockTargets targets;
    private final List<QueueNode> nodes;
    private final Session session;
    private final Steps steps;
    private final Owner owner;
    private final WaitSet waits;
    private boolean confirmed = true; // by a write that was committed in or just before this step
    private boolean confirmedTwice;

    /** Begins with nodes that were made by a write that was committed just now. */
    Turn(LockTargets targets, List<QueueNode> nodes, Session session, Steps steps, Owner owner) {
        this.targets = targets;
        this.nodes = nodes;
        this.session = session;
        this.steps = steps;
        this.owner = owner;
        this.waits = new WaitSet(this::onChange, this::onWatchRefused);
    }

    /** Acts on a list. */
    void decide(Look look) {
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
    void end() {
        waits.clear(session.watches());
    }

    private void act(Look look) {
        if (nodes.stream().anyMatch(node -> CounterAge.of(node.name()) >= CounterAge.WORN_OUT)) {
            owner.onWornOut();
            return;
        }
        try {
            Verdict verdict = Verdict.onOwn(targets, nodes, look);
            if (verdict instanceof Verdict.Vanished) {
                owner.onVanished();
            } else if (verdict instanceof Verdict.Never never) {
                owner.fail(never.refusal());
            } else if (verdict instanceof Verdict.Granted) {
                grantOrConfirm(look);
            } else if (verdict instanceof Verdict.Wait wait && owner.onBusy()) {
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
        owner.fail(Refusal.of(targets.path(), "watch " + path, answer.code()));
    }

    private void list() {
        steps.become(Step.LISTING);
        confirmed = session.isFreshlyProven();
        if (!confirmed) {
            // A lease must not start on an old proof. The list that follows tells if a node is gone.
            session.check(nodes.stream().map(QueueNode::path).toList(), steps.inThisStep(answer -> {
                confirmed = answer.isOk();
                if (!confirmed && answer.code() != Code.NONODE) {
                    owner.retryOrFail("check " + QueueNode.describe(nodes), answer, this::list);
                }
            }));
        }
        session.lists().ask(targets.query(), steps.inThisStep(this::decide));
    }

    private void grantOrConfirm(Look look) {
        boolean stillborn = session.isOutlived();
        if (!confirmed || stillborn || (!session.isProven() && !confirmedTwice)) {
            // Better a valid lease a moment later. Once more is enough: on a line that is too slow no lease is valid.
            confirmedTwice = confirmed;
            list();
            return;
        }
        List<Grant> grants = new ArrayList<>();
        for (int i = 0; i < nodes.size(); i++) {
            QueueNode node = nodes.get(i);
            node.granted(look.names(node.lockPath()).size() == 1);
            grants.add(new Grant(targets.all().get(i), node, Grant.token(node)));
        }
        owner.onGranted(grants);
    }
}
