// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.clean;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.clean.Leftover.State;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.source.SessionSource;
import dev.zkrecipes.core.internal.thread.Pauses;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.time.Duration;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/**
 * Deletes nodes until a server confirms that they are gone. Releases and abandoned attempts both end here. Each node
 * is a {@link Leftover}, with these states and what leads from one to the next:
 *
 * <pre>
 *   UNANSWERED -- the answer to its create --+
 *   READY ------- room, or a new request ----+            +-- gone, as the server says --&gt; GONE
 *   RESTING ----- a timer, or a new request -+--&gt; SENT ---+-- no answer -----------------&gt; RESTING
 *   REFUSED ----- its turn ------------------+            +-- refused -------------------&gt; REFUSED
 *   OFFLINE ----- a connection --------------+
 *                                            |            +-- found ---------------------&gt; SENT
 *                         if it may not exist+--&gt; SOUGHT -+-- no answer, or refused -----&gt; likewise
 *                                                         +-- missed --------------------&gt; GONE; SOUGHT twice more
 * </pre>
 *
 * <ul>
 *   <li>A deletion is sent in the node's own session while that lives, and after that in the client's next session. A
 *       session that has ended here may live on at the server, where its nodes would block everybody.
 *   <li>At most {@value #WINDOW} deletions are under way at a time. A node that has to be looked for does not count
 *       among them before it is found, so that one list serves all nodes that wait for a connection.
 *   <li>A node that may exist is looked for until it is known to be gone, even if its create was not answered.
 *   <li>A deletion that ZooKeeper refuses is reported at once, to those who wait for it and in the log. It is
 *       repeated until the node is gone, because the rights may change, another client may delete the node, or its
 *       session may end. The right to delete belongs to the path, so the refused deletions on one path take turns, at
 *       growing intervals. When one of these nodes is gone, the next deletion follows at once.
 * </ul>
 *
 * <p>Confined to the engine thread.
 */
public final class NodeCleaner implements SessionSource.User {
    private static final int WINDOW = 100; // deletions under way at a time

    /**
     * How often the rest before the next turn of a refused deletion doubles. The first rest is a request time-out.
     */
    private static final int MOST_DOUBLINGS = 4;

    /**
     * When a node that was missed is looked for again, in halves of the session time-out; see {@link #missed}. The
     * last look comes after six time-outs. A time-out is two ticks or more, and the leader drops a server from which
     * it has heard nothing for {@code syncLimit} ticks. With a limit of ten, twice the usual one, that takes five
     * time-outs at most.
     */
    private static final List<Integer> NEXT_LOOKS = List.of(3, 12);

    final EngineScheduler scheduler;
    final Pauses pauses;
    private final SessionSource sessions;
    private final Supplier<Duration> requestTimeout;
    private final Map<String, Map<OwnNode, Leftover>> pending = new HashMap<>(); // by lock path, the oldest first
    private final Map<State, Set<Leftover>> byState = new EnumMap<>(State.class); // in the order in which they came
    private final Set<Leftover> ready = in(State.READY);
    private final Set<Leftover> sent = in(State.SENT);
    private final Map<String, Set<Leftover>> refused = new HashMap<>(); // by lock path, in the order of their turns
    private final Map<String, Boolean> resets = new HashMap<>(); // paths reset lately; whether a node left since
    private @Nullable Session successor; // in which nodes of ended sessions are deleted
    private boolean seeking; // whether a successor was asked for
    private boolean abandoned; // whether the client is closed

    /**
     * {@code pauses} is the pace of deletions that get no answer. {@code requestTimeout} is the first rest of a
     * deletion that was refused.
     */
    public NodeCleaner(
            EngineScheduler scheduler, Pauses pauses, SessionSource sessions, Supplier<Duration> requestTimeout) {
        this.scheduler = scheduler;
        this.pauses = pauses;
        this.sessions = sessions;
        this.requestTimeout = requestTimeout;
    }

    // ---- For other classes.

    /**
     * Ensures that these nodes, which are all of one session, are deleted. Returns a future for each, which completes
     * once the node is gone. Several nodes are deleted by one {@code multi} if all of them exist; otherwise each is
     * deleted by itself. A node whose create is not answered yet is deleted as soon as the answer is there. If a node
     * was alone on a path with an old counter, the counter is reset once the node is gone, unless another has come.
     */
    @CanIgnoreReturnValue
    public List<CompletableFuture<Void>> discard(List<OwnNode> nodes) {
        List<Leftover> leftovers = nodes.stream()
                .map(node -> added(node, new CompletableFuture<>()))
                .toList();
        if (nodes.size() > 1 && nodes.stream().allMatch(NodeCleaner::canBeDeletedNow)) {
            deleteTogether(leftovers);
        } else {
            leftovers.forEach(Leftover::begin);
        }
        return leftovers.stream().map(leftover -> leftover.gone).toList();
    }

    /** Deletes one node. {@code gone} completes once it is gone; exceptionally as soon as ZooKeeper refuses that. */
    public void discard(OwnNode node, CompletableFuture<Void> gone) {
        added(node, gone).begin();
    }

    private Leftover added(OwnNode node, CompletableFuture<Void> gone) {
        Leftover leftover = new Leftover(this, node, gone);
        pending.computeIfAbsent(node.lockPath(), path -> new LinkedHashMap<>(2)).put(node, leftover);
        return leftover;
    }

    private static boolean canBeDeletedNow(OwnNode node) {
        return node.existence() == OwnNode.Existence.CREATED && node.session().isConnected();
    }

    /**
     * Deletes all or none by one {@code multi}. If one node is gone already, it fails, and each is deleted by itself.
     */
    private void deleteTogether(List<Leftover> leftovers) {
        Session session = leftovers.get(0).node.session();
        leftovers.forEach(leftover -> leftover.isSentIn(session));
        List<Op> operations = leftovers.stream()
                .map(leftover -> Op.delete(leftover.node.path(), -1))
                .toList();
        session.zk()
                .multi(
                        operations,
                        answer -> leftovers.forEach(
                                leftover -> leftover.then(answer.isOk() ? leftover::finish : leftover::begin)));
    }

    /**
     * This node was looked for behind a committed write, and was not there. The write comes after the create, with
     * one exception: the client has come back to the server that it had lost, while a thread of that server stands
     * still with the create in its hands. Only time settles that. So the node is looked for again after the time in
     * which the session would have ended without the client. It is looked for a last time when even a server that was
     * also cut off from the others must have passed on the create, or have lost it.
     */
    public void missed(OwnNode node) {
        int looks = node.noteMissing();
        if (looks <= NEXT_LOOKS.size()) {
            Session session = node.session();
            long wait = session.timeoutNanos() / 2 * NEXT_LOOKS.get(looks - 1);
            scheduler.schedule(Duration.ofNanos(wait), () -> {
                if (!session.isEnded()) {
                    lookFor(node);
                }
            });
        }
    }

    /** Looks for a missing node again, unless it was found meanwhile, or is being looked for. */
    private void lookFor(OwnNode node) {
        if (node.existence() == OwnNode.Existence.MISSING
                && !onPath(node.lockPath()).containsKey(node)) {
            discard(node, new CompletableFuture<>());
        }
    }

    /** A node of ours is gone. If its deletion rests after a refusal, there is no reason to rest any longer. */
    public void onNodeGone(String nodePath) {
        List.copyOf(onPath(LockPath.parent(nodePath)).values()).forEach(leftover -> leftover.onNodeGone(nodePath));
    }

    /** Sends the postponed deletions on these paths now, so that no client queues behind its own abandoned node. */
    public void flush(List<String> lockPaths) {
        if (hasPostponed()) { // usually nothing is, and a thousand requests need not look through their paths
            lockPaths.forEach(path -> List.copyOf(onPath(path).values()).forEach(Leftover::hurry));
        }
    }

    /** A session was connected, or has ended. Deletions that waited for either continue. */
    public void wake() {
        for (Leftover leftover : List.copyOf(in(State.OFFLINE))) {
            if (in(State.OFFLINE).contains(leftover)) { // unless an earlier one has changed that
                leftover.begin();
            }
        }
    }

    /**
     * The names of the nodes whose deletion was sent in this session, and is not answered yet: it comes before
     * anything that the session sends next. Nodes that ZooKeeper has refused to delete before are not among them.
     */
    public Set<String> leaving(String lockPath, Session session) {
        return onPath(lockPath).values().stream()
                .filter(leftover -> leftover.isAheadIn(session))
                .map(leftover -> leftover.node.name())
                .collect(Collectors.toUnmodifiableSet());
    }

    /**
     * Why a node of ours on this path cannot be deleted; empty if there is no such node. A later request would wait
     * behind that node, and never learn why.
     */
    public Optional<LockException> refusalOn(String lockPath) {
        if (!isRefusedOn(lockPath)) {
            return Optional.empty();
        }
        return onPath(lockPath).values().stream() // the oldest first, whichever has its turn
                .flatMap(leftover -> leftover.refusal().stream())
                .findFirst();
    }

    /** Whether anything remains to be deleted that the server does not delete when these sessions are closed. */
    public boolean hasNodesBeside(Collection<Session> closing) {
        return all().stream().anyMatch(leftover -> closing.stream().allMatch(leftover::outlives));
    }

    /** Completes once each node that is known now is gone, or was refused; never exceptionally. */
    public CompletableFuture<Void> idle() {
        return CompletableFuture.allOf(
                        all().stream().map(leftover -> leftover.gone).toArray(CompletableFuture<?>[]::new))
                .exceptionally(refusal -> null);
    }

    /** The client is closed. From now on only the end of its sessions deletes nodes. */
    public void abandonAll() {
        abandoned = true;
        all().forEach(Leftover::finish);
    }

    public boolean isEmpty() {
        return pending.isEmpty();
    }

    private List<Leftover> all() {
        return pending.values().stream().flatMap(path -> path.values().stream()).toList();
    }

    Map<OwnNode, Leftover> onPath(String lockPath) {
        return pending.getOrDefault(lockPath, Map.of());
    }

    // ---- Room and sessions.

    /** A leftover moves from one state to another. */
    void onMove(Leftover leftover, State from, State to) {
        in(from).remove(leftover);
        if (to != State.GONE) {
            in(to).add(leftover);
        }
    }

    /** The leftovers that are in this state. */
    private Set<Leftover> in(State state) {
        return byState.computeIfAbsent(state, first -> new LinkedHashSet<>());
    }

    boolean hasPostponed() {
        return !ready.isEmpty() || !in(State.RESTING).isEmpty();
    }

    /** Whether a new deletion may be sent now. Deletions that wait for room come first. */
    boolean hasRoom() {
        return sent.size() < WINDOW && ready.isEmpty();
    }

    /** Sends as many of the waiting deletions as there is room for. */
    void pump() {
        while (sent.size() < WINDOW && !ready.isEmpty()) {
            ready.iterator().next().hurry();
        }
    }

    /** The session in which to delete the node. It may be disconnected. Null if no session is known. */
    @Nullable
    Session sessionFor(OwnNode node) {
        return node.session().isEnded() ? successor : node.session();
    }

    /**
     * Asks for another session if the node's own has ended. The answer wakes what waits, and may come in this call.
     */
    void seekSessionFor(OwnNode node) {
        if (node.session().isEnded() && !seeking) {
            seeking = true;
            sessions.request(this);
        }
    }

    @Override
    public void with(Session found) {
        seeking = false;
        successor = found;
        if (found.isConnected()) {
            wake();
        }
    }

    /** For messages: the path of any node that waits for a session. */
    @Override
    public String lockPath() {
        return in(State.OFFLINE).stream()
                .map(leftover -> leftover.node.lockPath())
                .findFirst()
                .orElse("/");
    }

    /** There is no session left in which to delete. The server deletes each node when it ends the node's session. */
    @Override
    public void unavailable(LockException why) {
        seeking = false;
        all().stream()
                .filter(leftover -> leftover.node.session().isEnded() && !leftover.isUnderWay())
                .forEach(Leftover::finish);
    }

    // ---- After an answer.

    /**
     * A node was found. Those that were created by the same {@code multi} exist as well, so any of them that was
     * looked for a moment too early, and missed, is looked for again.
     */
    void onFound(OwnNode node) {
        node.createdTogether().forEach(this::lookFor);
    }

    boolean isRefusedOn(String lockPath) {
        return refused.containsKey(lockPath);
    }

    /**
     * The deletion was refused, for the first time or in its turn. It goes to the end of the turns on its path. If no
     * other turn is pending, the next one follows after a rest, which grows with the refusals of this leftover.
     */
    void onRefused(Leftover leftover, int times) {
        Set<Leftover> turns = refused.computeIfAbsent(leftover.node.lockPath(), path -> new LinkedHashSet<>());
        boolean hadTurn = turns.isEmpty() || isNext(turns, leftover);
        turns.remove(leftover);
        turns.add(leftover);
        if (hadTurn) {
            int rest = 1 << Math.min(times, MOST_DOUBLINGS);
            turns.iterator().next().rest(requestTimeout.get().multipliedBy(rest));
        }
    }

    private static boolean isNext(Set<Leftover> turns, Leftover leftover) {
        return turns.iterator().next() == leftover;
    }

    /**
     * Nothing of it is left. If it had its turn among refused deletions, the next may succeed, too, and follows now.
     */
    void onGone(Leftover leftover) {
        OwnNode node = leftover.node;
        String lockPath = node.lockPath();
        Map<OwnNode, Leftover> path = onPath(lockPath);
        path.remove(node);
        if (path.isEmpty()) {
            pending.remove(lockPath);
        }
        if (abandoned) {
            return;
        }
        Set<Leftover> turns = refused.get(lockPath);
        if (turns != null) {
            boolean hadTurn = isNext(turns, leftover);
            turns.remove(leftover);
            if (turns.isEmpty()) {
                refused.remove(lockPath);
            } else if (hadTurn) {
                turns.iterator().next().rest(Duration.ZERO);
            }
        }
        if (node.leavesOldCounter()) {
            resetCounter(node);
        }
    }

    /**
     * Resets the counter of a path, unless somebody is there. On a path in use that fails, so it is tried once in T/6
     * at most. If another node has left meanwhile, it is tried again after that time.
     */
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
}
