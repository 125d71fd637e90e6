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
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes nodes until a server confirms that they are gone. Releases and abandoned attempts both end here; what there is
 * to ask for, {@link Leftover} knows.
 *
 * <p>A deletion uses the node's own session while that lives, then the client's next one: a session that ended for us
 * may live on at the server, and its nodes would block everybody. Without a connection it waits for one. Without an
 * answer it is sent again, at the pace of retries.
 *
 * <p>A deletion that ZooKeeper refuses is told of at once, to those who wait for it and in the log. It goes on until the
 * node is gone, by a change of the rights, by somebody else's hand or with its session. Rights are those of the path, so
 * those that were refused on a path take turns, ever more seldom; when one of them is gone, the next follows at once.
 *
 * <p>At most {@value #WINDOW} requests are under way at a time; the other deletions wait in a queue. Confined to the
 * engine thread.
 */
public final class NodeCleaner {
    private static final Logger log = LoggerFactory.getLogger(NodeCleaner.class);
    private static final int WINDOW = 100;
    /** Between two tries of what was refused on a path, in request time-outs. */
    private static final int LONGEST_REST = 16;

    private final EngineScheduler scheduler;
    private final Supplier<Backoff> pace;
    private final SessionSource sessions;
    private final Supplier<Duration> requestTimeout;
    private final Map<String, PathQueue> paths = new HashMap<>();
    // Where a deletion stands: in one of these three; or it has a timer, or is refused and not the next to be tried, or
    // its
    // create is not answered yet.
    private final Set<Deletion> ready = new LinkedHashSet<>();
    private final Set<Deletion> withoutConnection = new LinkedHashSet<>();
    private final Set<Deletion> underWay = new HashSet<>();
    private final Successor successor = new Successor();

    /** The deletions on one lock path. */
    private static final class PathQueue {
        private final Set<Deletion> all = new LinkedHashSet<>();
        private final Deque<Deletion> refused = new ArrayDeque<>(); // the first is tried, or about to be
        private int rest = 1;
    }

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
        this.sessions = sessions;
        this.requestTimeout = requestTimeout;
    }

    // ---- What others ask for.

    /**
     * Sees to it that the nodes, of one session, are gone. Several are deleted by one {@code multi}, if they are there;
     * otherwise each by itself. Who leaves an old counter, and saw nobody else, starts it anew by the way. A node whose
     * create is not answered yet is deleted as soon as it is.
     *
     * @return a future for each, which completes when it is gone
     */
    @CanIgnoreReturnValue
    public List<CompletableFuture<Void>> discard(List<OwnNode> nodes) {
        List<Deletion> deletions = nodes.stream().map(this::added).toList();
        boolean now = nodes.stream().allMatch(NodeCleaner::canBeDeletedNow);
        if (now && nodes.stream().anyMatch(OwnNode::leavesOldCounter)) {
            startAnew(deletions);
        } else if (now && nodes.size() > 1) {
            deleteTogether(deletions);
        } else {
            deletions.forEach(Deletion::begin);
        }
        pump();
        return deletions.stream().map(deletion -> deletion.done).toList();
    }

    /** Sends at once what waits for a better time on this path: nobody shall queue behind his own ghost. */
    public void flush(String lockPath) {
        List.copyOf(onPath(lockPath)).forEach(Deletion::hurry);
    }

    /** A session was connected or has ended: everything that waited for that goes on. */
    public void wake() {
        ready.addAll(withoutConnection);
        withoutConnection.clear();
        pump();
    }

    /**
     * Names of nodes on their way out whose deletion was sent in this session and is not answered: it comes before
     * whatever is sent next. Without those that were refused before.
     */
    public Set<String> leaving(String lockPath, Session session) {
        return onPath(lockPath).stream()
                .filter(deletion -> deletion.sentIn == session && deletion.refusal == null && deletion.isOfNode())
                .map(deletion -> deletion.node().name())
                .collect(Collectors.toUnmodifiableSet());
    }

    /** Why a node of ours cannot be deleted, if ZooKeeper said so and it is still there as far as is known. */
    public Optional<LockException> refusal(String nodePath) {
        PathQueue queue = paths.get(LockPath.parent(nodePath));
        return queue == null
                ? Optional.empty()
                : queue.refused.stream()
                        .filter(deletion ->
                                deletion.isOfNode() && deletion.node().path().equals(nodePath))
                        .flatMap(deletion -> Optional.ofNullable(deletion.refusal).stream())
                        .findFirst();
    }

    /** Whether something is still to be deleted that does not go when these sessions are closed. */
    public boolean hasNodesBeside(Collection<Session> closing) {
        return all().anyMatch(deletion ->
                !closing.contains(deletion.node().session()) || deletion.leftover.outlivesItsSession());
    }

    /** Completes when nothing is left to delete of what is known now; never exceptionally. */
    public CompletableFuture<Void> idle() {
        return CompletableFuture.allOf(all().map(deletion -> deletion.done).toArray(CompletableFuture<?>[]::new))
                .exceptionally(refused -> null);
    }

    /** The client is closed: nobody is left to delete anything, the end of the sessions does. */
    public void abandonAll() {
        all().toList().forEach(Deletion::finish);
        ready.clear(); // what was refused and thought that its turn had come
    }

    public boolean isEmpty() {
        return paths.isEmpty();
    }

    private Stream<Deletion> all() {
        return paths.values().stream().flatMap(queue -> queue.all.stream());
    }

    private Set<Deletion> onPath(String lockPath) {
        PathQueue queue = paths.get(lockPath);
        return queue == null ? Set.of() : queue.all;
    }

    private Deletion added(OwnNode node) {
        Deletion deletion = new Deletion(node);
        paths.computeIfAbsent(node.lockPath(), path -> new PathQueue()).all.add(deletion);
        return deletion;
    }

    private void pump() {
        while (underWay.size() < WINDOW && !ready.isEmpty()) {
            ready.iterator().next().send();
        }
    }

    // ---- Several at once.

    private static boolean canBeDeletedNow(OwnNode node) {
        return node.existence() == OwnNode.Existence.CREATED && node.session().isConnected();
    }

    private void startAnew(List<Deletion> deletions) {
        underWay.addAll(deletions);
        List<OwnNode> nodes = deletions.stream().map(Deletion::node).toList();
        new CounterReset(nodes.get(0).session())
                .leave(
                        nodes.stream().filter(OwnNode::leavesOldCounter).toList(),
                        nodes.stream().filter(node -> !node.leavesOldCounter()).toList(),
                        answer -> {
                            if (answer.isOk() || nodes.size() == 1) {
                                afterMulti(deletions, answer);
                            } else if (!deletions.get(0).finished) {
                                deleteTogether(deletions); // somebody came, or has no right to make the path again
                            }
                        });
    }

    private void deleteTogether(List<Deletion> deletions) {
        Session session = deletions.get(0).node().session();
        deletions.forEach(deletion -> deletion.isSent(session));
        List<Op> operations = deletions.stream()
                .map(deletion -> Op.delete(deletion.node().path(), -1))
                .toList();
        session.zk().multi(operations, answer -> afterMulti(deletions, answer));
    }

    private void afterMulti(List<Deletion> deletions, Answer<?> answer) {
        deletions.forEach(deletion -> deletion.onAnswer(answer.isOk() ? deletion::finish : deletion::begin));
        pump();
    }

    /** A session to delete in what sessions left that have ended. */
    private final class Successor implements SessionSource.User {
        private @Nullable Session session;
        private boolean seeking;

        @Nullable
        Session seek() {
            if ((session == null || !session.isConnected()) && !seeking) {
                seeking = true;
                sessions.request(this); // which may answer at once
            }
            return session;
        }

        @Override
        public void with(Session found) {
            seeking = false;
            session = found;
            if (found.isConnected()) {
                wake();
            }
        }

        @Override
        public String lockPath() {
            return paths.keySet().stream().findFirst().orElse("/");
        }

        @Override
        public void unavailable(LockException why) {
            seeking = false;
            // No session is left to delete with; the server deletes a node when it ends the node's session.
            all().filter(deletion -> deletion.node().session().isEnded() && deletion.sentIn == null)
                    .toList()
                    .forEach(Deletion::finish);
            pump();
        }
    }

    /** One node on its way out. */
    private final class Deletion {
        private final Leftover leftover;
        private final CompletableFuture<Void> done = new CompletableFuture<>();
        private final Backoff pauses = pace.get();
        private @Nullable Timer timer;
        private @Nullable Session sentIn;
        private @Nullable LockException refusal;
        private boolean finished;

        Deletion(OwnNode node) {
            leftover = new Leftover(node, scheduler);
        }

        OwnNode node() {
            return leftover.node();
        }

        boolean isOfNode() {
            return node().existence() == OwnNode.Existence.CREATED;
        }

        /** Queues for being sent; what nobody could ask for before is sent past the queue. */
        void begin() {
            if (node().existence() == OwnNode.Existence.IN_FLIGHT) {
                node().whenAnswered(this::send);
            } else {
                ready.add(this);
            }
        }

        void hurry() {
            if (timer != null || ready.contains(this) || withoutConnection.contains(this)) {
                send();
            }
        }

        private void send() {
            stopWaiting();
            if (finished || leftover.isNothing()) {
                finish();
                return;
            }
            Session session = node().session().isEnded() ? successor.seek() : node().session();
            if (session == null || !session.isConnected()) {
                withoutConnection.add(this);
                return;
            }
            isSent(session);
            try {
                leftover.remove(session, !queue().refused.isEmpty(), verdict -> {
                    onAnswer(() -> onVerdict(verdict));
                    pump();
                });
            } catch (Throwable t) {
                onAnswer(() -> onRefused(leftover.notAsked(t)));
            }
        }

        private void stopWaiting() {
            ready.remove(this);
            withoutConnection.remove(this);
            if (timer != null) {
                timer.cancel();
                timer = null;
            }
        }

        void isSent(Session session) {
            sentIn = session;
            underWay.add(this);
        }

        void onAnswer(Runnable next) {
            sentIn = null;
            underWay.remove(this);
            if (!finished) {
                next.run();
            }
        }

        private void onVerdict(Verdict verdict) {
            if (verdict instanceof Verdict.Gone) {
                finish();
            } else if (verdict instanceof Verdict.Again) {
                again(pauses.next());
            } else if (verdict instanceof Verdict.Later later) {
                again(later.after());
            } else if (verdict instanceof Verdict.Refused refused) {
                onRefused(refused.why());
            }
        }

        private void again(Duration after) {
            timer = scheduler.schedule(after, () -> {
                timer = null;
                begin();
                pump();
            });
        }

        /** Those who wait are told; the deletion goes on, for the rights may be mended. */
        private void onRefused(LockException why) {
            PathQueue queue = queue();
            boolean tried = queue.refused.isEmpty() || queue.refused.remove(this);
            queue.refused.add(this);
            if (refusal == null) {
                refusal = why;
                log.warn("{}.", why.getMessage());
                done.completeExceptionally(why);
            }
            if (tried) {
                queue.refused.element().again(requestTimeout.get().multipliedBy(queue.rest));
                queue.rest = Math.min(2 * queue.rest, LONGEST_REST);
            }
        }

        private PathQueue queue() {
            return Objects.requireNonNull(paths.get(node().lockPath()), "finished");
        }

        private void finish() {
            stopWaiting();
            if (!finished) {
                finished = true;
                PathQueue queue = queue();
                queue.all.remove(this);
                boolean tried = queue.refused.peek() == this;
                queue.refused.remove(this);
                if (tried && !queue.refused.isEmpty()) {
                    queue.rest = 1;
                    queue.refused.element().begin();
                }
                if (queue.all.isEmpty()) {
                    paths.remove(node().lockPath());
                }
                done.complete(null);
            }
        }
    }
}
