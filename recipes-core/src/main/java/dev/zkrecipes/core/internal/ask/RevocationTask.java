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
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Asks the owner of one node to give it back, from the request to its end.
 *
 * <pre>
 * SEEKING    a session
 *    v
 * MARKING    read, then write with the version that was read, as often as somebody else writes in between
 *    v
 * WAITING    the node is watched
 *    v       the grace is over
 * BREAKING   read, then delete with the version that was read
 *    v
 * the end    as soon as the node is gone, from any step
 * </pre>
 *
 * <p>A lost connection leads from any step to PAUSED and, once there is a connection, to the same step again; a session
 * that ended, by way of SEEKING. The mark has an id, so that it is written once, however many attempts that takes. The
 * node that was marked is known by its czxid, so that neither a mark nor a deletion hits another of the same name: the
 * version of a node that was written is not that of a new one.
 *
 * <p>Confined to the engine thread, but for what its requester does.
 */
public final class RevocationTask extends SessionTask implements Revocation, WatchRegistry.Subscriber {

    enum Step {
        SEEKING,
        MARKING,
        WAITING,
        BREAKING,
        PAUSED
    }

    private final Requests requests;
    private final Participant holder;
    private final RevocationRequest request;
    private final String nodePath;
    private final CompletableFuture<Boolean> asked = new CompletableFuture<>();
    private final CompletableFuture<RevocationOutcome> outcome = new CompletableFuture<>();
    private final CompletableFuture<RevocationOutcome> told; // for the application

    private @Nullable Content seen;
    private @Nullable Timer grace;
    private Runnable unsubscribe = () -> {};
    private boolean graceOver;
    private boolean maybeDeleted;
    private long markedCzxid; // 0 before

    /** {@code seen} is what the node held when it was looked at; the mark is written on that, if it is so still. */
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

    // ---- What its requester does, on any thread.

    public void launch() {
        if (!requests.enter(this)) {
            throw requests.closedFor(lockPath());
        }
        requests.scheduler().execute(() -> guard(this::seek));
    }

    public String nodePath() {
        return nodePath;
    }

    /** Completes, on the engine thread, when the node is marked or known to be gone. */
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

    @Override
    protected void onSessionEnded(State how) {
        if (how == State.AUTH_FAILED) {
            fail(ZooKeeperErrors.credentialsRefused("the holder of " + nodePath + " cannot be asked"));
        } else {
            seek();
        }
    }

    private void goOn() {
        if (markedCzxid == 0) {
            mark();
        } else if (graceOver) {
            breakIt();
        } else {
            follow();
        }
    }

    // ---- Asking.

    private void mark() {
        become(Step.MARKING);
        Content known = seen;
        seen = null; // good for one try
        if (known != null) {
            mark(known);
            return;
        }
        session().zk().read(nodePath, inThisState(answer -> {
            if (answer.isOk()) {
                mark(answer.value());
            } else {
                onTrouble("read", answer, this::mark);
            }
        }));
    }

    private void mark(Content content) {
        Stat stat = content.stat();
        if (holder.sessionId() != 0 && stat.getEphemeralOwner() != holder.sessionId()) {
            onGone(nodePath); // one of the same name, without an id, came after it
        } else if (RevocationMarks.in(content).stream()
                .anyMatch(mark -> mark.id().equals(request.id()))) {
            onMarked(stat);
        } else {
            byte[] data = RevocationMarks.with(request, holder.node(), content);
            write(Op.setData(nodePath, data, stat.getVersion()), "mark", this::mark, () -> onMarked(stat));
        }
    }

    private void onMarked(Stat stat) {
        markedCzxid = stat.getCzxid();
        resetPace();
        grace = request.grace()
                .map(time -> Deadline.after(time, requests.scheduler()).remainingNanos()) // what a timer can count
                .map(left -> requests.scheduler().schedule(Duration.ofNanos(left), () -> guard(this::onGraceOver)))
                .orElse(null);
        asked.complete(true);
        follow();
    }

    // ---- Following.

    private void follow() {
        become(Step.WAITING);
        WatchRegistry watches = session().watches();
        unsubscribe = () -> watches.unsubscribe(nodePath, this);
        watches.subscribe(nodePath, this);
    }

    @Override
    public void onRead(String path, Content content) {
        if (isIn(Step.WAITING) && content.stat().getCzxid() != markedCzxid) {
            onGone(path);
        }
    }

    /** Told by the watch, and by any answer that shows it. */
    @Override
    public void onGone(String path) {
        if (!isIn(Step.BREAKING)) { // else it may be our own deletion, whose answer tells
            endAsGone();
        }
    }

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

    // ---- Breaking.

    private void onGraceOver() {
        grace = null;
        graceOver = true;
        if (isIn(Step.WAITING)) {
            whenConnected(this::breakIt);
        }
    }

    private void breakIt() {
        become(Step.BREAKING);
        session().zk().read(nodePath, inThisState(answer -> {
            if (!answer.isOk()) {
                onTrouble("read", answer, this::breakIt);
            } else if (answer.value().stat().getCzxid() != markedCzxid) {
                endAsGone();
            } else {
                delete(answer.value().stat().getVersion());
            }
        }));
    }

    private void delete(int version) {
        boolean maybeBefore = maybeDeleted;
        maybeDeleted = true; // until the answer says that it is not
        write(
                Op.delete(nodePath, version),
                "delete",
                () -> {
                    maybeDeleted = maybeBefore;
                    breakIt();
                },
                () -> end(() -> outcome.complete(RevocationOutcome.BROKEN)));
    }

    // ---- What both have in common.

    private void write(Op operation, String what, Runnable again, Runnable done) {
        Consumer<Answer<List<OpResult>>> next = inThisState(answer -> {
            switch (answer.code()) {
                case OK -> done.run();
                // To read again tells what there is now, and what not.
                case BADVERSION, NONODE -> again.run();
                default -> onTrouble(what, answer, this::goOn);
            }
        });
        session().zk().multi(List.of(operation), next);
    }

    private void onTrouble(String what, Answer<?> answer, Runnable again) {
        if (answer.code() == Code.NONODE) {
            endAsGone();
        } else if (answer.code() == Code.SESSIONEXPIRED) {
            session().become(State.EXPIRED);
        } else if (answer.isUnsettled()) {
            pauseThen(again);
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

    /** Ends it with an error, unless it has ended. On the engine thread. */
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
        asked.complete(true); // unless it was, or failed
    }
}
