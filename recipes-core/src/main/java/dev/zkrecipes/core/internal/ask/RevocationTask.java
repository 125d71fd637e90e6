// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.ask;

import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.Revocation;
import dev.zkrecipes.core.RevocationOutcome;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.internal.acquire.Requests;
import dev.zkrecipes.core.internal.reads.WatchRegistry;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.source.SessionTask;
import dev.zkrecipes.core.internal.thread.Blocking;
import dev.zkrecipes.core.internal.thread.Callbacks;
import dev.zkrecipes.core.internal.thread.Completion;
import dev.zkrecipes.core.internal.thread.Deadline;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.internal.wire.RevocationMarks;
import dev.zkrecipes.core.internal.zk.ZooKeeperErrors;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Asks the owner of one node to give it back, and follows that request to its end.
 *
 * <pre>
 * SEEKING    waits for a session
 *    v
 * WRITING    reads the node, then writes the mark with the version that was read; again if somebody else writes
 *    v       in between
 * WAITING    watches the node
 *    v       the grace is over
 * WRITING    reads the node, then deletes it with the version that was read
 *    v
 * the end    as soon as the node is gone, from any step
 * </pre>
 *
 * <p>A lost connection leads from any step to PAUSED and, once there is a connection, to the same step again. The end
 * of the session leads to SEEKING, and from there to the step that is due.
 *
 * <p>The mark has an id, so that it is written once, however many attempts that takes. The marked node is identified by
 * its czxid, so that a deletion does not hit a later node of the same name. If such a node is created between the read
 * and the deletion, its version distinguishes it: a marked node was written to, a new one was not.
 *
 * <p>Confined to the engine thread, except for the methods that its requester calls.
 */
public final class RevocationTask extends SessionTask implements Revocation, WatchRegistry.Subscriber {

    enum Step {
        SEEKING,
        WRITING,
        WAITING,
        PAUSED
    }

    private final Requests requests;
    private final Participant holder;
    private final RevocationRequest request;
    private final String nodePath;
    private final CompletableFuture<Boolean> asked = new CompletableFuture<>();
    private final CompletableFuture<RevocationOutcome> outcome = new CompletableFuture<>();
    private final CompletableFuture<RevocationOutcome> told; // a copy for the application, completed as a callback

    private @Nullable Content seen; // what the caller has read; used for one attempt
    private @Nullable Timer grace; // fires when the lease may be broken
    private Runnable unsubscribe = () -> {};
    private boolean graceOver;
    private boolean maybeDeleted; // whether a deletion of ours may have taken effect
    private long markedCzxid; // czxid of the marked node; 0 before it is marked

    /**
     * {@code seen} is the content of the node as the caller has read it. The mark is based on this content if the node
     * has not changed since; otherwise the node is read again.
     */
    public RevocationTask(
            Requests requests,
            Callbacks callbacks,
            Participant holder,
            Optional<Content> seen,
            RevocationRequest request) {
        super(requests.sessions(), requests.pauses(), Step.SEEKING, Step.PAUSED);
        this.requests = requests;
        this.holder = holder;
        this.seen = seen.orElse(null);
        this.request = request;
        this.nodePath = LockPath.child(LockPath.check(holder.path()), holder.node());
        this.told = Completion.copy(outcome, callbacks::run);
    }

    // ---- For the requester, on any thread.

    /** Begins the task on the engine thread. Throws if the client has ended. */
    public void launch() {
        if (!requests.enter(this)) {
            throw requests.closedFor(lockPath());
        }
        requests.scheduler().execute(() -> guard(this::seek));
    }

    public String nodePath() {
        return nodePath;
    }

    /**
     * Returns a future that completes on the engine thread when the node is marked or known to be gone; it fails if the
     * task fails before that.
     */
    public CompletableFuture<Boolean> asked() {
        return asked;
    }

    @Override
    public Participant participant() {
        return holder;
    }

    @Override
    public CompletableFuture<RevocationOutcome> outcome() {
        return told;
    }

    @Override
    public Optional<RevocationOutcome> await(Duration timeout) throws InterruptedException {
        Blocking.requireNotNegative(timeout);
        Deadline deadline = Deadline.after(timeout, requests.scheduler());
        Blocking.requireMayBlock(requests.scheduler());
        Blocking.throwIfInterrupted();
        return Blocking.awaitAgain(outcome, deadline);
    }

    @Override
    public void close() {
        outcome.completeExceptionally(
                new CancellationException("the request to give back " + nodePath + " was closed"));
        requests.scheduler().execute(() -> end(() -> {}));
    }

    // ---- Getting a session.

    @Override
    protected void onSession(Session found) {
        whenConnected(this::goOn);
    }

    @Override
    public String lockPath() {
        return holder.path();
    }

    /**
     * Seeks another session, even if the credentials were refused: those of the next handle may be better. The watch
     * that ends with the session says nothing of the node.
     */
    @Override
    protected void onSessionEnded(State how) {
        unsubscribe.run();
        unsubscribe = () -> {};
        seek();
    }

    /** Continues with the step that is due, in a new session or on a new connection. */
    private void goOn() {
        if (markedCzxid != 0 && !graceOver) {
            follow();
        } else {
            write();
        }
    }

    // ---- Marking, and breaking after the grace.

    /**
     * Reads the node, then marks or deletes it, whichever is due. The content that the caller has read saves the first
     * read.
     */
    private void write() {
        become(Step.WRITING);
        Content known = seen;
        seen = null; // used for one attempt
        if (known != null) {
            write(known);
            return;
        }
        session().zk().read(nodePath, inThisState(answer -> {
            if (answer.isOk()) {
                write(answer.value());
            } else {
                onTrouble("read", answer);
            }
        }));
    }

    /**
     * Marks the node, or deletes it if it is marked. Another node of the same name means that the holder's node is
     * gone.
     */
    private void write(Content content) {
        Stat stat = content.stat();
        boolean isOther = markedCzxid == 0
                ? holder.sessionId() != 0 && stat.getEphemeralOwner() != holder.sessionId()
                : stat.getCzxid() != markedCzxid;
        if (isOther) {
            endAsGone();
        } else if (markedCzxid != 0) {
            delete(stat.getVersion());
        } else if (RevocationMarks.in(content).stream()
                .anyMatch(mark -> mark.id().equals(request.id()))) {
            // An earlier attempt has written the mark, and its answer was lost.
            onMarked(stat);
        } else {
            byte[] data = RevocationMarks.with(request, holder.node(), content);
            send(Op.setData(nodePath, data, stat.getVersion()), "mark", () -> onMarked(stat), () -> {});
        }
    }

    private void delete(int version) {
        boolean maybeBefore = maybeDeleted;
        maybeDeleted = true; // until an answer says that it was not
        send(
                Op.delete(nodePath, version),
                "delete",
                () -> end(() -> outcome.complete(RevocationOutcome.BROKEN)),
                () -> maybeDeleted = maybeBefore);
    }

    /**
     * Sends a write that takes effect only if the node has the version that was read. If the node has another version
     * or is gone, runs {@code undone}, and reads the node again.
     */
    private void send(Op operation, String what, Runnable done, Runnable undone) {
        session().zk().multi(List.of(operation), inThisState(answer -> {
            switch (answer.code()) {
                case OK -> done.run();
                case BADVERSION, NONODE -> {
                    undone.run();
                    write();
                }
                default -> onTrouble(what, answer);
            }
        }));
    }

    /** Called when the node is marked: the grace begins, and the node is watched. */
    private void onMarked(Stat stat) {
        markedCzxid = stat.getCzxid();
        resetPace();
        // A deadline is limited to what a timer can measure. The grace may be longer.
        grace = request.grace()
                .map(time -> Deadline.after(time, requests.scheduler()).remainingNanos())
                .map(left -> requests.scheduler().schedule(Duration.ofNanos(left), () -> guard(this::onGraceOver)))
                .orElse(null);
        asked.complete(true);
        follow();
    }

    // ---- Following.

    /** Watches the node until it is gone or the grace has elapsed. The registry of watches handles disconnects. */
    private void follow() {
        become(Step.WAITING);
        WatchRegistry watches = session().watches();
        unsubscribe = () -> watches.unsubscribe(nodePath, this);
        watches.subscribe(nodePath, this);
    }

    /** Another node of the same name means that the marked one is gone. */
    @Override
    public void onRead(String path, Content content) {
        if (isIn(Step.WAITING) && content.stat().getCzxid() != markedCzxid) {
            onGone(path);
        }
    }

    /** Called by the watch, and for any answer that shows that the node is gone. */
    @Override
    public void onGone(String path) {
        if (!isIn(Step.WRITING)) { // otherwise our own deletion may be the reason, and its answer shows that
            endAsGone();
        }
    }

    /**
     * Ends the task because the node is gone. If a deletion of ours got no answer, it may be the reason, so the lease
     * counts as broken.
     */
    private void endAsGone() {
        RevocationOutcome how = markedCzxid == 0
                ? RevocationOutcome.GONE_ALREADY
                : maybeDeleted ? RevocationOutcome.BROKEN : RevocationOutcome.GIVEN_BACK;
        end(() -> outcome.complete(how));
    }

    @Override
    public void onRefused(String path, Answer<?> answer) {
        fail(refusal("watch", answer));
    }

    private void onGraceOver() {
        grace = null;
        graceOver = true;
        if (isIn(Step.WAITING)) {
            whenConnected(this::write);
        }
    }

    /** Called when a step got no answer or was refused. Continues after a pause, or ends the task. */
    private void onTrouble(String what, Answer<?> answer) {
        if (answer.code() == Code.NONODE) {
            endAsGone();
        } else if (answer.code() == Code.SESSIONEXPIRED) {
            session().become(State.EXPIRED);
        } else if (answer.isUnsettled()) {
            pauseThen(this::goOn);
        } else {
            fail(refusal(what, answer));
        }
    }

    private LockException refusal(String what, Answer<?> answer) {
        return answer.code() == Code.NOAUTH
                ? new LockAccessException(
                        "lock " + lockPath() + ": ZooKeeper refused to " + what + " the node " + nodePath
                                + " (NOAUTH); asking a holder needs READ and WRITE on its node, breaking its lease"
                                + " DELETE on the lock path")
                : ZooKeeperErrors.of(lockPath(), what + " the node " + nodePath, answer);
    }

    /** Ends the task with an error, unless it has ended. */
    @Override
    public void fail(LockException why) {
        end(() -> {
            outcome.completeExceptionally(why);
            asked.completeExceptionally(why);
        });
    }

    private void end(Runnable last) {
        if (isOver()) {
            return;
        }
        unsubscribe.run();
        finish();
        requests.exit(this);
        if (grace != null) {
            grace.cancel();
        }
        last.run();
        asked.complete(true); // no effect if it was completed before
    }
}
