// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.clean;

import dev.zkrecipes.core.LockAccessException;
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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a request that is over may have left on the server: its node or, if that was never made, a container that was
 * made for it. {@link NodeCleaner} shows its states. Confined to the engine thread.
 *
 * <ul>
 *   <li>ZooKeeper may refuse to delete a node that does not exist, because it looks at the rights first; so after a
 *       refusal a read tells whether it is there.
 *   <li>A node whose create got no answer is looked for behind a committed write, and twice more much later
 *       ({@link NodeCleaner#missed}); if its session has ended, when the server must have ended it, too.
 *   <li>ZooKeeper never removes a container that never had a child, so it is deleted, if it may be there and is unused.
 * </ul>
 */
final class Leftover {
    private static final Logger log = LoggerFactory.getLogger(Leftover.class);

    enum State {
        UNANSWERED, // the answer to its create
        READY, // room among those that are being deleted
        OFFLINE, // a session that is connected
        SENT, // the answer to its deletion
        SOUGHT, // the list that may show it
        RESTING, // the end of a pause
        REFUSED, // its turn among those of its path that were refused
        GONE
    }

    final OwnNode node;
    final CompletableFuture<Void> gone;
    private final NodeCleaner cleaner;
    private State state = State.UNANSWERED;
    private @Nullable Session sentIn;
    private @Nullable Timer timer;
    private int pauses; // because an answer was missing
    private @Nullable Code refusal;
    private int refusals;

    /** {@code gone} completes at its end; exceptionally as soon as that is refused. */
    Leftover(NodeCleaner cleaner, OwnNode node, CompletableFuture<Void> gone) {
        this.cleaner = cleaner;
        this.node = node;
        this.gone = gone;
    }

    // ---- What others ask.

    boolean isUnderWay() {
        return state == State.SENT || state == State.SOUGHT;
    }

    /** Whether its deletion comes before whatever is sent next in this session, and will succeed as far as is known. */
    boolean isAheadIn(Session session) {
        return state == State.SENT && sentIn == session && refusal == null && node.existence() == Existence.CREATED;
    }

    /** Why it cannot be deleted. Each who is told gets an error of its own. */
    Optional<LockException> refusal() {
        return Optional.ofNullable(refusal)
                .map(code -> new LockAccessException("ZooKeeper refuses to delete the lock node "
                        + node.describe() + " (" + code
                        + "); it blocks others until its session ends: give the client DELETE rights on "
                        + node.lockPath() + ", or delete the node by hand"));
    }

    /** Whether something of it is still there when this session is closed. */
    boolean outlives(Session session) {
        boolean leavesContainers = node.existence() == Existence.ABSENT || isToBeFound();
        return node.session() != session || (leavesContainers && hasContainers());
    }

    private boolean isToBeFound() {
        return node.existence() == Existence.UNKNOWN || node.existence() == Existence.MISSING;
    }

    private boolean hasContainers() {
        return !node.parents().map(ParentMaker::hasMadeNothing).orElse(true);
    }

    // ---- Its way.

    /** Is sent, or waits for room; what is looked for does not, as one list serves all. */
    void begin() {
        if (node.existence() == Existence.IN_FLIGHT) {
            node.whenAnswered(this::send);
        } else if (isToBeFound() || cleaner.hasRoom()) {
            send();
        } else {
            become(State.READY);
        }
    }

    /** Is sent now, if it is just waiting for a better time. What has no connection is sent as soon as there is one. */
    void hurry() {
        if (state == State.READY || state == State.RESTING) {
            send();
        }
    }

    /** Somebody has deleted this node, perhaps its own: then it need not wait any longer. */
    void onNodeGone(String nodePath) {
        if (!isUnderWay()
                && node.existence() == Existence.CREATED
                && node.path().equals(nodePath)) {
            send();
        }
    }

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

    void isSentIn(Session session) {
        sentIn = session;
        become(State.SENT);
    }

    void rest(Duration pause) {
        rest(end -> cleaner.scheduler.schedule(pause, end));
    }

    private void rest(Function<Runnable, Timer> pause) {
        become(State.RESTING);
        timer = pause.apply(this::begin);
    }

    private void become(State next) {
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
        cleaner.onMove(this, state, next);
        state = next;
    }

    // ---- The answers.

    /** The server has said all that was asked, in vain if the client was closed meanwhile. */
    void then(Runnable next) {
        if (isUnderWay()) {
            next.run();
        }
        cleaner.pump();
    }

    /** Nothing of it is left, or nothing that the client could delete. */
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

    private void miss() {
        cleaner.missed(node);
        finish();
    }

    private void retry() {
        rest(task -> cleaner.pauses.begin(pauses++, task));
    }

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
            // Not a plain delete: a server with enableEagerACLCheck refuses one at the cost of the connection.
            in.zk().multi(List.of(Op.delete(node.path(), -1)), answer -> onDeleted(in, answer));
        } else {
            in.zk().delete(node.path(), answer -> onDeleted(in, answer));
        }
    }

    private void onDeleted(Session in, Answer<?> answer) {
        if (answer.isOk() || answer.code() == Code.NONODE) {
            then(node.mayBeMadeTwice && !node.session().isEnded() ? this::miss : this::finish);
        } else if (isToBeRepeated(answer)) {
            then(this::retry);
        } else if (answer.code() == Code.AUTHFAILED) {
            Duration wait = node.session().untilEndedByServer();
            then(wait.isZero() ? this::finish : () -> rest(wait));
        } else {
            in.zk()
                    .read(
                            node.path(),
                            seen -> then(seen.code() == Code.NONODE ? this::finish : () -> refuse(answer.code())));
        }
    }

    /**
     * Whether it was not answered. If credentials were refused while the node's session lives, that is about to end,
     * or those of another session are wrong. The server deletes the node with its session.
     */
    private boolean isToBeRepeated(Answer<?> answer) {
        return answer.isUnsettled()
                || (answer.code() == Code.AUTHFAILED && !node.session().isEnded());
    }

    private void lookForNode(Session in) {
        become(State.SOUGHT);
        ListQuery query = new ListQuery(List.of(new ListQuery.Part(node.lockPath(), false)));
        in.lists().askBehindWrite(query, list -> {
            Optional<String> found =
                    list.names(node.lockPath()).stream().filter(node::isOurs).findFirst();
            if (found.isPresent()) {
                node.created(found.get(), 0);
                node.count(); // one that was missing did not count any more
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
        boolean seen = answer.isOk() || answer.code() == Code.NONODE; // that there is no such path is an answer too
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

    private void deleteContainers(Session in, Runnable next) {
        node.parents()
                .ifPresentOrElse(maker -> maker.leave(unused -> deleteContainers(in, unused, next)), () -> then(next));
    }

    /** One that is used, gone, or not ours to delete locks nobody out. */
    private void deleteContainers(Session in, List<String> paths, Runnable next) {
        if (paths.isEmpty()) {
            then(next);
            return;
        }
        in.zk().multi(List.of(Op.delete(paths.get(0), -1)), answer -> {
            if (answer.isUnsettled()) {
                then(this::retry);
            } else {
                deleteContainers(in, paths.subList(1, paths.size()), next);
            }
        });
    }
}
