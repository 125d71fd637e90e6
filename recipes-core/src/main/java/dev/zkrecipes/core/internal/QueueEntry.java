// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.Steps.Step;
import dev.zkrecipes.core.spi.Answer;
import dev.zkrecipes.core.spi.ZooKeeperOperations.Content;
import dev.zkrecipes.core.spi.ZooKeeperOperations.Created;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;

/**
 * How an attempt gets a node into the queue, in one session: create it and list in one round trip, make the path if
 * there is none, and find out what became of a create whose answer was lost. Confined to the engine thread.
 */
final class QueueEntry {

    /** The attempt, as its entry sees it. */
    interface Owner {
        /** The node was made, proven by a write that was committed just now; the list was taken after that. */
        void onEntered(Lists.Look list);

        /** The node was made, and is gone again. */
        void onVanished();

        /** A request got no answer, or a refusal: pause and do {@code again}, or fail. */
        void retryOrFail(String what, Answer<?> answer, Runnable again);

        /** Something is wrong that waiting does not mend. */
        void fail(LockException why);
    }

    private final EngineClient client;
    private final LockTarget target;
    private final Session session;
    private final Steps steps;
    private final Owner owner;
    private QueueNode node;

    QueueEntry(LockTarget target, Session session, Steps steps, Owner owner) {
        this.client = target.client();
        this.target = target;
        this.session = session;
        this.steps = steps;
        this.owner = owner;
        this.node = new QueueNode(session, target);
    }

    /** The node of the last create. */
    QueueNode node() {
        return node;
    }

    /** Sends the create and, without waiting for the answer, the list: the server answers one after the other. */
    void create() {
        steps.become(Step.ENQUEUEING);
        QueueNode mine = node;
        long sentAt = client.scheduler().nanoTime();
        Consumer<Answer<Created>> next = steps.inThisStep(this::onCreated);
        session.zk()
                .createEphemeralSequential(
                        mine.prefix(), client.nodeData(), client.settings().acl(), answer -> {
                            mine.answered(answer);
                            if (answer.isOk()) {
                                session.committed(sentAt);
                            }
                            next.accept(answer);
                        });
        // If the create fails, the step has changed by the time this answer comes.
        session.lists().ask(target.path(), steps.inThisStep(owner::onEntered));
    }

    private void onCreated(Answer<Created> answer) {
        switch (answer.code()) {
            case OK -> {}
            case NONODE -> makePath();
            default -> owner.retryOrFail("create a node below " + target.path(), answer, this::settle);
        }
    }

    private void makePath() {
        steps.become(Step.MAKING_PATH);
        new ParentMaker(session, client.settings().acl()).make(target.path(), steps.inThisStep(answer -> {
            switch (answer.code()) {
                case OK -> createAnew();
                case NONODE ->
                    owner.fail(new LockException(client.rootName() + " does not exist, so the lock " + target.path()
                            + " cannot be made; create the chroot node first"));
                default -> owner.retryOrFail("create the path " + target.path(), answer, this::createAnew);
            }
        }));
    }

    /** With a new node object: every create has an id of its own. */
    private void createAnew() {
        node = new QueueNode(session, target);
        create();
    }

    /**
     * Finds out what became of a create whose answer was lost. {@code sync} would not do: it does not wait for writes
     * that are under way. A write of the same session does: it is committed behind the create, or instead of it.
     */
    private void settle() {
        steps.become(Step.SETTLING);
        session.check(List.of(target.path()), steps.inThisStep(answer -> {
            // That there is no such path is an answer too, and a committed one.
            if (!answer.isOk() && answer.code() != Code.NONODE) {
                owner.retryOrFail("check " + target.path(), answer, this::settle);
            }
        }));
        session.lists().ask(target.path(), steps.inThisStep(look -> {
            switch (look.code()) {
                case OK -> adoptOrCreate(look);
                case NONODE -> createAfterAll();
                default -> owner.retryOrFail("list " + target.path(), look.answer(), this::settle);
            }
        }));
    }

    private void adoptOrCreate(Lists.Look list) {
        Optional<String> ours =
                list.answer().value().names().stream().filter(node::isOurs).findFirst();
        if (ours.isPresent()) {
            adopt(ours.get(), list);
        } else {
            createAfterAll();
        }
    }

    private void createAfterAll() {
        node.absent();
        createAnew();
    }

    /** A node that was found is ours only if it belongs to this session. */
    private void adopt(String name, Lists.Look list) {
        steps.become(Step.ADOPTING);
        String path = LockPath.child(target.path(), name);
        session.zk().read(path, steps.inThisStep((Answer<Content> answer) -> {
            switch (answer.code()) {
                case OK -> {
                    node.created(path, answer.value().stat().getCzxid());
                    if (answer.value().stat().getEphemeralOwner()
                            == session.zk().sessionId()) {
                        owner.onEntered(list);
                    } else {
                        owner.onVanished();
                    }
                }
                case NONODE -> owner.onVanished();
                default -> owner.retryOrFail("read " + path, answer, this::settle);
            }
        }));
    }
}
