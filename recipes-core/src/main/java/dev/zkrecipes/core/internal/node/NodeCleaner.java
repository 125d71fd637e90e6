// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.node;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.node.Leftover.Verdict;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.session.SessionSource;
import dev.zkrecipes.core.internal.thread.Backoff;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/**
 * Deletes nodes until a server confirms that they are gone. Releases and abandoned attempts both end here.
 *
 * <ul>
 *   <li>A deletion uses the node's own session while that lives, then the client's next one: a session that ended for
 *       us may live on at the server, and its nodes would block everybody. Without a connection it waits for one.
 *       Without an answer it is repeated at the pace of retries. Only so many are under way at a time ({@link
 *       DeletionQueue}).
 *   <li>What may exist is looked for until it is known to be gone, even if its create was not answered ({@link
 *       Leftover}).
 *   <li>A deletion that ZooKeeper refuses is reported at once, to its waiters and in the log. It is repeated until the
 *       node is gone: after a change of the rights, through another client or with its session. Refused deletions on
 *       one path take turns ({@link PathDeletions}).
 * </ul>
 *
 * <p>A {@link Deletion} is one of them, with all its states. Confined to the engine thread.
 */
public final class NodeCleaner {
    /**
     * Halves of the session time-out. A time-out is two ticks or more, and the leader drops a server that it has not
     * heard for {@code syncLimit} ticks: for a limit of ten, which is twice the usual one, after five time-outs.
     */
    private static final int LAST_LOOK = 12;

    private final EngineScheduler scheduler;
    private final Supplier<Backoff> pace;
    private final Supplier<Duration> requestTimeout;
    private final DeletionQueue queue;
    private final Map<String, PathDeletions> pending = new HashMap<>();
    private final Map<String, Boolean> resets = new HashMap<>(); // tried lately; whether a node has left since
    private boolean abandoned;

    /**
     * Makes a cleaner with nothing to do.
     *
     * @param pace makes the pauses of one deletion that gets no answer
     * @param requestTimeout how long one that was refused rests at first
     */
    public NodeCleaner(
            EngineScheduler scheduler,
            Supplier<Backoff> pace,
            SessionSource sessions,
            Supplier<Duration> requestTimeout) {
        this.scheduler = scheduler;
        this.pace = pace;
        this.requestTimeout = requestTimeout;
        this.queue = new DeletionQueue(sessions, this::onNoSession);
    }

    // ---- What others ask for.

    /**
     * Ensures that these nodes, all of one session, are deleted. Several are deleted by one {@code multi}, if they are
     * there; otherwise each by itself. When a node is gone that was alone on an old counter, the counter is reset if
     * nobody has come. A node whose create is not answered yet is deleted as soon as it is.
     *
     * @return a future for each, which completes when it is gone
     */
    @CanIgnoreReturnValue
    public List<CompletableFuture<Void>> discard(List<OwnNode> nodes) {
        if (nodes.size() == 1) {
            return List.of(discard(nodes.get(0), new CompletableFuture<>()));
        }
        List<Deletion> deletions = nodes.stream()
                .map(node -> added(node, new CompletableFuture<>()))
                .toList();
        boolean now = nodes.stream().allMatch(NodeCleaner::canBeDeletedNow);
        if (now) {
            deleteTogether(deletions);
        } else {
            deletions.forEach(Deletion::begin);
        }
        queue.pump();
        return deletions.stream().map(Deletion::done).toList();
    }

    /**
     * Deletes one node.
     *
     * @param gone completed when it is gone, or as soon as that is refused
     * @return the same future
     */
    @CanIgnoreReturnValue
    public CompletableFuture<Void> discard(OwnNode node, CompletableFuture<Void> gone) {
        Deletion deletion = added(node, gone);
        if (node.existence() != OwnNode.Existence.CREATED || !node.session().isConnected()) {
            deletion.begin();
        } else if (queue.isIdle()) {
            deletion.send(); // nothing waits before it
            return gone;
        } else {
            deletion.begin();
        }
        queue.pump();
        return gone;
    }

    /**
     * This node was looked for behind a committed write and was not there. The write comes after the create in all
     * cases but one: the client has come back to the server that it lost, while a thread of that server stood still
     * with the create in its hands. Only time settles that. So the node is looked for again after the time in which the
     * session would have ended without the client; and a last time when a server that was also cut off from the others
     * must have passed on what it had, or have lost it.
     */
    public void missed(OwnNode node) {
        switch (node.missing()) {
            case 1 -> lookAgain(node, 3);
            case 2 -> lookAgain(node, LAST_LOOK);
            default -> {} // that was the last time
        }
    }

    private void lookAgain(OwnNode node, int halfTimeouts) {
        Session session = node.session();
        scheduler.schedule(Duration.ofNanos(session.timeoutNanos() / 2 * halfTimeouts), () -> {
            if (!session.isEnded()) {
                lookFor(node);
            }
        });
    }

    /** Unless it was found already, or is being looked for. */
    private void lookFor(OwnNode node) {
        if (node.existence() == OwnNode.Existence.MISSING && !node.isOnItsWayOut()) {
            discard(node, new CompletableFuture<>());
        }
    }

    /** Somebody has deleted a node of ours: a deletion of it that rests after a refusal need not rest any longer. */
    public void onNodeGone(String nodePath) {
        onPath(LockPath.parent(nodePath)).stream()
                .filter(deletion -> deletion.isOf(nodePath) && !deletion.isUnderWay())
                .toList()
                .forEach(Deletion::send);
    }

    /** Sends this path's postponed deletions now, so that no client queues behind its own abandoned node. */
    public void flush(String lockPath) {
        if (queue.hasPutOff()) { // not for each of a thousand requests while there is no connection
            List.copyOf(onPath(lockPath)).forEach(Deletion::hurry);
        }
    }

    /** A session was connected or has ended: what waited for that continues. */
    public void wake() {
        queue.wake();
    }

    /**
     * Names of the nodes whose deletion was sent in this session and not answered yet: it comes before anything that is
     * sent next. Without those that were refused before.
     */
    public Set<String> leaving(String lockPath, Session session) {
        return onPath(lockPath).stream()
                .filter(deletion -> deletion.isAheadIn(session))
                .map(deletion -> deletion.node().name())
                .collect(Collectors.toUnmodifiableSet());
    }

    /** Why a node of ours on this path cannot be deleted; empty if there is none. Later requests stand behind it. */
    public Optional<LockException> refusalOn(String lockPath) {
        PathDeletions path = pending.get(lockPath);
        if (path == null || path.refused().isEmpty()) {
            return Optional.empty();
        }
        return path.all().stream() // the oldest first, whichever is tried next
                .flatMap(deletion -> deletion.refusal().stream())
                .findFirst();
    }

    /** Whether anything is still to be deleted that the end of these sessions does not delete. */
    public boolean hasNodesBeside(Collection<Session> closing) {
        return all().anyMatch(deletion -> closing.stream().allMatch(deletion::outlives));
    }

    /** Completes when everything that is known now is deleted; never exceptionally. */
    public CompletableFuture<Void> idle() {
        return CompletableFuture.allOf(all().map(Deletion::done).toArray(CompletableFuture<?>[]::new))
                .exceptionally(refused -> null);
    }

    /** The client is closed, so only the end of its sessions deletes nodes now. */
    public void abandonAll() {
        abandoned = true;
        all().toList().forEach(Deletion::finish);
    }

    public boolean isEmpty() {
        return pending.isEmpty();
    }

    private Stream<Deletion> all() {
        return pending.values().stream().flatMap(path -> path.all().stream());
    }

    private Set<Deletion> onPath(String lockPath) {
        PathDeletions path = pending.get(lockPath);
        return path == null ? Set.of() : path.all();
    }

    // ---- What becomes of them.

    private Deletion added(OwnNode node, CompletableFuture<Void> gone) {
        PathDeletions path = pending.computeIfAbsent(node.lockPath(), key -> new PathDeletions());
        Leftover leftover = new Leftover(node, scheduler, !path.refused().isEmpty());
        Deletion deletion = new Deletion(leftover, scheduler, pace, queue, this::onVerdict, gone);
        path.all().add(deletion);
        node.onItsWayOut(true);
        return deletion;
    }

    private void onVerdict(Deletion deletion, Verdict verdict) {
        OwnNode node = deletion.node();
        if (verdict instanceof Verdict.Gone) {
            onFinished(deletion, node);
        } else if (verdict instanceof Verdict.NotThere) {
            missed(node);
        } else if (verdict instanceof Verdict.Found) {
            // Those that were created with it are there too. One that is missing was looked for just before that.
            node.createdTogether().forEach(this::lookFor);
        } else if (verdict instanceof Verdict.Refused) {
            PathDeletions path = pending.get(node.lockPath());
            if (path != null) {
                path.onRefused(deletion, requestTimeout.get());
            }
        }
    }

    private void onFinished(Deletion deletion, OwnNode node) {
        node.onItsWayOut(false);
        String lockPath = node.lockPath();
        PathDeletions path = pending.get(lockPath);
        if (path != null) {
            path.onFinished(deletion);
            if (path.all().isEmpty()) {
                pending.remove(lockPath);
            }
        }
        if (node.leavesOldCounter() && !abandoned) {
            resetCounter(node);
        }
    }

    /** Resets the counter of a path, unless somebody is there. On a path in use, once in T/6 is often enough. */
    private void resetCounter(OwnNode last) {
        String path = last.lockPath();
        boolean wasTriedLately = resets.replace(path, true) != null;
        if (!wasTriedLately && last.session().isConnected()) {
            resets.put(path, false);
            new CounterReset(last.session(), path)
                    .send(
                            List.of(),
                            answer -> last.session().afterAWhile(() -> {
                                if (Boolean.TRUE.equals(resets.remove(path))) {
                                    resetCounter(last);
                                }
                            }));
        }
    }

    /** No session is left to delete with; the server deletes a node when it ends the node's session. */
    private void onNoSession() {
        all().filter(deletion -> deletion.node().session().isEnded() && !deletion.isUnderWay())
                .toList()
                .forEach(Deletion::finish);
    }

    // ---- Several at once.

    private static boolean canBeDeletedNow(OwnNode node) {
        return node.existence() == OwnNode.Existence.CREATED && node.session().isConnected();
    }

    private void deleteTogether(List<Deletion> deletions) {
        Session session = deletions.get(0).node().session();
        deletions.forEach(deletion -> deletion.isSentIn(session));
        List<Op> operations = deletions.stream()
                .map(deletion -> Op.delete(deletion.node().path(), -1))
                .toList();
        session.zk().multi(operations, answer -> afterMulti(deletions, answer));
    }

    private void afterMulti(List<Deletion> deletions, Answer<?> answer) {
        deletions.forEach(deletion -> deletion.onAnswer(answer.isOk() ? deletion::finish : deletion::begin));
        queue.pump();
    }

    /**
     * The deletions on one lock path. The right to delete is the path's, so those that ZooKeeper refused take turns at
     * growing intervals. When one of them is gone, the next follows at once.
     */
    private static final class PathDeletions {
        /** Between two turns, in request time-outs. */
        private static final int LONGEST_REST = 16;

        private final Set<Deletion> all = new LinkedHashSet<>(2);
        private @Nullable Deque<Deletion> refused; // none before one was; it is the first one's turn
        private int rest = 1;

        Set<Deletion> all() {
            return all;
        }

        Collection<Deletion> refused() {
            return refused == null ? List.of() : refused;
        }

        /** A deletion was refused, for the first time or in its turn. */
        void onRefused(Deletion deletion, Duration requestTimeout) {
            Deque<Deletion> turns = refused == null ? new ArrayDeque<>() : refused;
            refused = turns;
            boolean hadTurn = turns.isEmpty() || turns.remove(deletion);
            turns.add(deletion);
            if (hadTurn) {
                turns.element().beginAfter(requestTimeout.multipliedBy(rest));
                rest = Math.min(2 * rest, LONGEST_REST);
            }
        }

        void onFinished(Deletion deletion) {
            all.remove(deletion);
            Deque<Deletion> turns = refused;
            if (turns == null) {
                return;
            }
            boolean hadTurn = turns.peek() == deletion;
            turns.remove(deletion);
            if (hadTurn && !turns.isEmpty()) {
                rest = 1;
                turns.element().begin();
            }
        }
    }
}
