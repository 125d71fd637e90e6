// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.acquire.Steps.Step;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.node.OwnNode;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.session.SessionObserver;
import dev.zkrecipes.core.internal.thread.Backoff;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.internal.zk.ZooKeeperErrors;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;

/**
 * The request of a thread that holds a lock in its exclusive mode for the shared one. One {@code multi} checks the
 * exclusive node and creates the shared one with the same number: at that place there is nobody in front who was not in
 * front of the exclusive node, and if the exclusive hold is lost, nothing is created. Nobody behind is let in between.
 *
 * <p>The name is unique and nobody else makes it. So if the answer is lost, the same is sent again, and that the node
 * exists means that it was made the first time. Confined to the engine thread, but for {@link #outcome()}.
 */
public final class Downgrade implements Acquisition, SessionObserver {
    private final EngineClient client;
    private final LockSpec target;
    private final HeldNode exclusive;
    private final Mode mode;
    private final Session session;
    private final OwnNode node;
    private final Steps steps;
    private final CompletableFuture<Optional<List<HeldNode>>> outcome = new CompletableFuture<>();
    private boolean sent;

    public Downgrade(LockSpec target, HeldNode exclusive, Mode mode) {
        this.client = target.client();
        this.target = target;
        this.exclusive = exclusive;
        this.mode = mode;
        this.session = exclusive.session();
        this.node = OwnNode.atPlaceOf(exclusive.node(), target);
        this.steps = new Steps(
                client.scheduler(),
                new Backoff(client.settings(), client.scheduler().random()),
                this::onFailure);
    }

    @Override
    public String lockPath() {
        return target.path();
    }

    @Override
    public CompletableFuture<Optional<List<HeldNode>>> outcome() {
        return outcome;
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
        client.scheduler().execute(() -> end(() -> {}));
        return first;
    }

    private void start() {
        if (outcome.isDone()) {
            end(() -> {});
        } else if (session.isEnded()) {
            onEnded(session.state());
        } else {
            session.observe(this);
            if (mode == Mode.QUEUE || session.isConnected()) {
                steps.whenConnected(session, this::send);
            } else {
                fail(new LockConnectionException(client.notConnected() + ", so the lock " + target.path()
                        + " cannot be taken in its shared mode; try again when connected"));
            }
        }
    }

    private void send() {
        steps.become(Step.ENQUEUEING);
        sent = true;
        node.count(); // without a limit: the exclusive node leaves soon, and nobody is to wait with it for room
        long sentAt = client.scheduler().nanoTime();
        List<Op> operations = List.of(
                Op.check(exclusive.nodePath(), -1),
                Op.create(node.prefix(), client.nodeData(), target.acl(), CreateMode.EPHEMERAL));
        var next = steps.inThisStep(this::onAnswer);
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
            exclusive.lose("its node was deleted by somebody else");
            fail(exclusive.lost());
        } else if (answer.code() == Code.SESSIONEXPIRED) {
            session.become(State.EXPIRED);
        } else if (!answer.isUnsettled()) {
            fail(ZooKeeperErrors.of(target.path(), "create the node " + node.describe(), answer.code()));
        } else if (mode == Mode.TRY) {
            fail(new LockConnectionException("lost the connection to ZooKeeper (" + answer.code()
                    + ") while taking the lock " + target.path() + " in its shared mode; try again"));
        } else {
            steps.pauseThen(session, this::send);
        }
    }

    private void grant() {
        HeldNode shared = new HeldNode(target, node, exclusive.token());
        session.leases().add(shared);
        finish(Step.GRANTED);
        if (!outcome.complete(Optional.of(List.of(shared)))) {
            HeldNode.release(List.of(shared));
        }
    }

    @Override
    public void onConnected() {
        steps.onConnected();
    }

    @Override
    public void onEnded(State how) {
        exclusive.lose("the ZooKeeper session has ended (" + how + ")");
        fail(exclusive.lost());
    }

    private void onFailure(Throwable failure) {
        fail(
                failure instanceof LockException known
                        ? known
                        : new LockException(
                                "the lock engine failed on " + target.path() + "; please report this", failure));
    }

    @Override
    public void fail(LockException why) {
        end(() -> outcome.completeExceptionally(why));
    }

    private void end(Runnable last) {
        if (!steps.isOver()) {
            if (sent) {
                client.cleaner().discard(List.of(node));
            }
            finish(Step.ENDED);
            last.run();
        }
    }

    private void finish(Step last) {
        steps.become(last);
        session.ignore(this);
        client.exit(this);
    }
}
