// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.clean;

import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.clean.OwnNode.Existence;
import dev.zkrecipes.core.internal.queue.ListQuery;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What an ended request may have left on the server: its node or, if the node was never created, containers that were
 * created for it. {@link NodeCleaner} shows the states and the transitions between them. Confined to the engine thread.
 *
 * <ul>
 *   <li>A created node is deleted. ZooKeeper checks the rights before it looks for the node, so it may refuse to delete
 *       a node that does not exist. After a refusal, a read shows whether the node exists.
 *   <li>If the create got no answer, the node is searched for after a committed write, and twice more much later, see
 *       {@link NodeCleaner#missed}. If the node's session has ended in this client, the search is repeated at a time
 *       when the server must have ended that session, too. After that the node cannot exist.
 *   <li>ZooKeeper never removes a container that never had a child. So a container that was created, or may have been,
 *       is deleted unless somebody uses it.
 * </ul>
 */
final class Leftover {
    private static final Logger log = LoggerFactory.getLogger(Leftover.class);

    /** What a leftover waits for; nothing once it is {@code GONE}. */
    enum State {
        UNANSWERED, // the answer to its create
        READY, // room: the number of deletions under way is limited
        OFFLINE, // a connected session
        SENT, // the answer to its deletion
        SOUGHT, // the list that shows whether its node exists
        RESTING, // the end of a pause
        REFUSED, // its turn among the refused deletions on its path
        GONE
    }

    final OwnNode node;
    final CompletableFuture<Void> gone;
    private final NodeCleaner cleaner;
    private State state = State.UNANSWERED;
    private @Nullable Session sentIn; // the session of the last deletion
    private @Nullable Timer timer; // set while it is resting
    private int pauses; // number of pauses because an answer was missing
    private @Nullable Code refusal; // the first refusal of the deletion, if any
    private int refusals;

    /** {@code gone} completes once nothing is left; exceptionally as soon as ZooKeeper refuses the deletion. */
    Leftover(NodeCleaner cleaner, OwnNode node, CompletableFuture<Void> gone) {
        this.cleaner = cleaner;
        this.node = node;
        this.gone = gone;
    }

    // ---- Queries.

    /** Whether a request for it was sent and is not answered yet. */
    boolean isUnderWay() {
        return state == State.SENT || state == State.SOUGHT;
    }

    /**
     * Whether its deletion was sent in this session, and nothing suggests that it will fail. Then the node is gone
     * before the server processes anything that the session sends later.
     */
    boolean isAheadIn(Session session) {
        return state == State.SENT && sentIn == session && refusal == null && node.existence() == Existence.CREATED;
    }

    /**
     * Returns why the node cannot be deleted; empty if the deletion was not refused. Each call creates a new exception
     * for its caller.
     */
    Optional<LockException> refusal() {
        return Optional.ofNullable(refusal)
                .map(code -> new LockAccessException("ZooKeeper refuses to delete the lock node "
                        + node.describe() + " (" + code
                        + "); it blocks others until its session ends: give the client DELETE rights on "
                        + node.lockPath() + ", or delete the node by hand"));
    }

    /**
     * Whether something of it remains once this session is closed, which deletes the session's nodes, but no
     * containers.
     */
    boolean outlives(Session session) {
        boolean leavesContainers = node.existence() == Existence.ABSENT || isToBeFound();
        return node.session() != session || (leavesContainers && hasContainers());
    }

    /** Whether the node has to be searched for, because it is not known whether it exists. */
    private boolean isToBeFound() {
        return node.existence() == Existence.UNKNOWN || node.existence() == Existence.MISSING;
    }

    /** Whether containers may exist that were created for the node and are not known to have a child. */
    private boolean hasContainers() {
        return !node.parents().map(ParentMaker::hasMadeNothing).orElse(true);
    }

    // ---- Sending.

    /**
     * Sends the deletion, or waits for room. A node that must first be searched for never waits for room, because one
     * list serves all such nodes.
     */
    void begin() {
        if (state == State.GONE) {
            return; // given up while its create was not answered
        }
        if (node.existence() == Existence.IN_FLIGHT) {
            node.whenAnswered(this::begin);
        } else if (isToBeFound() || cleaner.hasRoom()) {
            send();
        } else {
            become(State.READY);
        }
    }

    /**
     * Sends the deletion now if it only waits for room, or for the end of a pause. Without a connection, the deletion
     * is sent as soon as there is one.
     */
    void hurry() {
        if (state == State.READY || state == State.RESTING) {
            send();
        }
    }

    /**
     * Called when the node at this path is gone. If it is this node, sends the deletion without waiting any longer,
     * because the server will confirm it now.
     */
    void onNodeGone(String nodePath) {
        if (!isUnderWay()
                && node.existence() == Existence.CREATED
                && node.path().equals(nodePath)) {
            send();
        }
    }

    /** Sends the request that is due next, or waits for a connection. */
    private void send() {
        if (state == State.GONE) {
            return;
        }
        if (node.existence() == Existence.ABSENT && !hasContainers()) {
            finish();
            return;
        }
        Session session = cleaner.sessionFor(node);
        if (session == null || !session.isConnected()) {
            become(State.OFFLINE);
            cleaner.seekSessionFor(node);
            return;
        }
        switch (node.existence()) {
            case IN_FLIGHT -> throw new IllegalStateException("not answered yet: " + node.describe());
            case CREATED -> delete(session);
            case UNKNOWN, MISSING -> lookForNode(session);
            case ABSENT -> {
                isSentIn(session);
                deleteContainers(session, this::finish);
            }
        }
    }

    /** Records that the deletion is being sent in this session. */
    void isSentIn(Session session) {
        sentIn = session;
        become(State.SENT);
    }

    /** Begins again after a pause. */
    void rest(Duration pause) {
        rest(end -> cleaner.scheduler.schedule(pause, end));
    }

    private void rest(Function<Runnable, Timer> pause) {
        become(State.RESTING);
        timer = pause.apply(this::begin);
    }

    /** Moves to another state. The cleaner keeps the leftovers by state. */
    private void become(State next) {
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
        cleaner.onMove(this, state, next);
        state = next;
    }

    // ---- The answers.

    /**
     * Runs {@code next} after an answer, unless the client was closed meanwhile. Then there may be room for another
     * deletion.
     */
    void then(Runnable next) {
        if (isUnderWay()) {
            next.run();
        }
        cleaner.pump();
    }

    /** Ends this leftover: nothing remains, or nothing that this client can delete. */
    void finish() {
        if (state == State.GONE) {
            return;
        }
        become(State.GONE);
        node.uncount();
        if (node.existence() == Existence.CREATED) {
            node.session().watches().onKnownGone(node.path());
        }
        cleaner.onGone(this);
        gone.complete(null);
    }

    /**
     * Whether the node may stay although this client no longer deletes it, because the application keeps the handle of
     * its session. Not if ZooKeeper has refused to delete it, which was reported. The handle may be alive although the
     * session has ended for this client: no answer came for long, or the client's identity was refused for a while.
     */
    boolean staysWithItsHandle() {
        return refusal == null
                && node.existence() != Existence.ABSENT
                && node.session().isWrapped()
                && node.session()
                        .zk()
                        .handle()
                        .filter(handle -> handle.getState().isAlive())
                        .isPresent();
    }

    /** Returns the handle of the node's session. Call only if there is one. */
    ZooKeeper handle() {
        return node.session().zk().handle().orElseThrow();
    }

    /**
     * Leaves the deletion to the handle, unless the node has to be searched for, and tells who waits for it.
     * {@code why} says what has ended.
     */
    void leaveToHandle(String why) {
        if (node.existence() == Existence.CREATED) {
            new DeletionAfterClose(handle()).delete(node.path());
        }
        gone.completeExceptionally(new LockConnectionException(why + " before it was known that the lock node "
                + node.describe() + " is gone; it is deleted as soon as its ZooKeeper handle reaches a server, or ends"
                + " with the session of that handle"));
    }

    /** Ends this leftover, although the node may still appear: the cleaner searches for it again much later. */
    private void miss() {
        cleaner.missed(node);
        finish();
    }

    /** Begins again after a pause, because there was no answer. */
    private void retry() {
        rest(task -> cleaner.pauses.begin(pauses++, task));
    }

    /**
     * Called when ZooKeeper refuses the deletion. The refusal is reported once. The deletion is repeated in turns until
     * the node is gone.
     */
    private void refuse(Code code) {
        become(State.REFUSED);
        if (refusal == null) {
            refusal = code;
            LockException why = refusal().orElseThrow();
            log.warn("{}.", why.getMessage());
            gone.completeExceptionally(why);
        }
        cleaner.onRefused(this, refusals++);
    }

    private void delete(Session in) {
        isSentIn(in);
        if (cleaner.isRefusedOn(node.lockPath())) {
            // Not a plain delete: a server with enableEagerACLCheck would refuse that by closing the connection.
            in.zk().multi(List.of(Op.delete(node.path(), -1)), answer -> onDeleted(in, answer));
        } else {
            in.zk().delete(node.path(), answer -> onDeleted(in, answer));
        }
    }

    /**
     * Called when the deletion was answered. If the credentials were refused, the server deletes the node with its
     * session, so this only waits for the end of that session. After any other refusal a read shows whether the node
     * exists.
     */
    private void onDeleted(Session in, Answer<?> answer) {
        if (answer.isOk() || answer.code() == Code.NONODE) {
            then(node.mayBeMadeTwice() && !node.session().isEnded() ? this::miss : this::finish);
        } else if (isToBeRepeated(answer)) {
            then(this::retry);
        } else if (answer.code() == Code.AUTHFAILED) {
            Duration wait = node.session().untilEndedByServer();
            then(wait.isZero() ? this::finish : () -> rest(wait));
        } else {
            in.zk().read(node.path(), seen -> {
                boolean isGone = seen.code() == Code.NONODE;
                then(isGone ? this::finish : () -> refuse(answer.code()));
            });
        }
    }

    /**
     * Whether the request has to be sent again. That is so if it got no answer, and also if credentials were refused
     * while the node's session is still alive in this client: either the end of that session is on its way to us, or
     * the request was sent in another session, whose credentials are wrong. The server deletes the node when it ends
     * the node's session.
     */
    private boolean isToBeRepeated(Answer<?> answer) {
        return answer.isUnsettled()
                || (answer.code() == Code.AUTHFAILED && !node.session().isEnded());
    }

    /**
     * Searches for the node in a list that is read after a committed write. Such a list also shows the effects of
     * earlier requests whose answers were lost.
     */
    private void lookForNode(Session in) {
        become(State.SOUGHT);
        ListQuery query = new ListQuery(List.of(new ListQuery.Part(node.lockPath(), false)));
        in.lists().askBehindWrite(query, list -> {
            Optional<String> found =
                    list.names(node.lockPath()).stream().filter(node::isOurs).findFirst();
            if (found.isPresent()) {
                node.created(found.get(), 0);
                node.count(); // a missing node no longer counts among those of its session
                then(() -> {
                    cleaner.onFound(node);
                    begin();
                });
            } else {
                onNotFound(in, list.answer());
            }
        });
    }

    private void onNotFound(Session in, Answer<?> answer) {
        boolean seen = answer.isOk() || answer.code() == Code.NONODE; // without its path, the node cannot exist
        boolean isOver = node.session().isEnded();
        Duration wait = node.session().untilEndedByServer();
        if (isToBeRepeated(answer)) {
            then(this::retry);
        } else if (!wait.isZero()) {
            then(() -> rest(wait));
        } else if (!seen && !isOver) {
            then(() -> refuse(answer.code()));
        } else {
            deleteContainers(in, isOver ? this::finish : this::miss);
        }
    }

    /** Stops the creation of the path, and deletes the containers that were created and may have no child. */
    private void deleteContainers(Session in, Runnable next) {
        node.parents()
                .ifPresentOrElse(
                        maker -> maker.leave(in, isAnswered -> then(isAnswered ? next : this::retry)),
                        () -> then(next));
    }
}
