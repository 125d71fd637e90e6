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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes nodes until a server confirms that they are gone. It gets the nodes of released holds and of abandoned
 * requests. Each node is a {@link Leftover}, with these states and transitions:
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
 *   <li>A deletion is sent in the node's own session while that session is alive, and after that in the client's next
 *       session. A session that has ended in this client may still be alive at the server, where its nodes would block
 *       everybody.
 *   <li>At most {@value #WINDOW} deletions are under way at a time. A node that has to be searched for does not count
 *       among them until it is found, so that one list serves all nodes that wait for a connection.
 *   <li>A node that may exist is searched for until it is known to be gone, even if its create was not answered.
 *   <li>If ZooKeeper refuses a deletion, the refusal is reported at once, to those who wait for the deletion and in the
 *       log. The deletion is repeated until the node is gone, because the rights may change, another client may delete
 *       the node, or its session may end. The right to delete belongs to the path, so the refused deletions on one path
 *       take turns, at growing intervals. When one of these nodes is gone, the next deletion follows at once.
 * </ul>
 *
 * <p>Confined to the engine thread.
 */
public final class NodeCleaner implements SessionSource.User {
    private static final Logger log = LoggerFactory.getLogger(NodeCleaner.class);

    private static final int WINDOW = 100; // deletions under way at a time

    /**
     * How often the pause before the next turn of a refused deletion can double. The first pause is a request time-out.
     */
    private static final int MOST_DOUBLINGS = 4;

    /**
     * The delays before a missed node is searched for again, in halves of the session time-out; see {@link #missed}.
     * The last search follows six time-outs after the one before it. A time-out is two ticks or more, and the leader
     * drops a server from which it has heard nothing for {@code syncLimit} ticks. With a limit of ten, twice the usual
     * one, that takes five time-outs at most.
     */
    private static final List<Integer> NEXT_LOOKS = List.of(3, 12);

    final EngineScheduler scheduler;
    final Pauses pauses;
    private final SessionSource sessions;
    private final Supplier<Duration> requestTimeout;
    private final Map<String, Map<OwnNode, Leftover>> pending = new HashMap<>(); // by lock path, the oldest first
    private final Map<State, Set<Leftover>> byState = new EnumMap<>(State.class); // in the order of their arrival
    private final Set<Leftover> ready = in(State.READY);
    private final Set<Leftover> sent = in(State.SENT);
    private final Map<String, Set<Leftover>> refused = new HashMap<>(); // by lock path, in the order of their turns
    private final Map<String, Boolean> resets = new HashMap<>(); // recently reset paths; whether a node left since
    private @Nullable Session successor; // the session to delete nodes of ended sessions in
    private boolean seeking; // whether a successor was requested
    private boolean abandoned; // whether the client is closed

    /**
     * {@code pauses} sets the pace of deletions that get no answer. {@code requestTimeout} is the first pause of a
     * refused deletion.
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
     * Ensures that these nodes, which all belong to one session, are deleted. Returns a future for each, which
     * completes once the node is gone. Several nodes are deleted by one {@code multi} if all of them exist; otherwise
     * each is deleted by itself. A node whose create is not answered yet is deleted as soon as the answer arrives. If a
     * node was alone on a path with an old counter, the counter is reset once the node is gone, unless another node was
     * created meanwhile.
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

    /**
     * Deletes one node. {@code gone} completes once it is gone; exceptionally as soon as ZooKeeper refuses the
     * deletion.
     */
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
     * Deletes all or none of them by one {@code multi}. If a node is already gone, the {@code multi} fails, and each
     * node is deleted by itself.
     */
    private void deleteTogether(List<Leftover> leftovers) {
        Session session = leftovers.get(0).node.session();
        leftovers.forEach(leftover -> leftover.isSentIn(session));
        List<Op> operations = leftovers.stream()
                .map(leftover -> Op.delete(leftover.node.path(), -1))
                .toList();
        session.zk().multi(operations, answer -> {
            for (Leftover leftover : leftovers) {
                leftover.then(answer.isOk() ? leftover::finish : leftover::begin);
            }
        });
    }

    /**
     * Called when this node was searched for after a committed write, and was not found. That write comes after the
     * create, with one exception: the client has reconnected to the server that it had lost, while a thread of that
     * server is paused before it has processed the create. Only time settles that. So the node is searched for again
     * after the time in which the session would have expired without the client. It is searched for a last time when
     * even a server that was also cut off from the others must have forwarded the create, or have lost it.
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

    /** Searches for a missing node again, unless it was found meanwhile, or is already being searched for. */
    private void lookFor(OwnNode node) {
        if (node.existence() == OwnNode.Existence.MISSING
                && !onPath(node.lockPath()).containsKey(node)) {
            discard(node, new CompletableFuture<>());
        }
    }

    /**
     * Called when a node of ours is gone. If its deletion is resting after a refusal, there is no reason to rest any
     * longer.
     */
    public void onNodeGone(String nodePath) {
        List.copyOf(onPath(LockPath.parent(nodePath)).values()).forEach(leftover -> leftover.onNodeGone(nodePath));
    }

    /** Sends the postponed deletions on these paths now, so that no client queues behind its own abandoned node. */
    public void flush(List<String> lockPaths) {
        if (hasPostponed()) { // usually there are none, and a thousand requests need not search their paths
            lockPaths.forEach(path -> List.copyOf(onPath(path).values()).forEach(Leftover::hurry));
        }
    }

    /** Called when a session was connected or has ended. Continues the deletions that waited for this. */
    public void wake() {
        for (Leftover leftover : List.copyOf(in(State.OFFLINE))) {
            if (in(State.OFFLINE).contains(leftover)) { // unless an earlier begin() has changed that
                leftover.begin();
            }
        }
    }

    /**
     * Returns the names of the nodes whose deletion was sent in this session and is not answered yet. The server
     * carries it out before anything that the session sends later. Nodes that ZooKeeper has refused to delete before
     * are not included.
     */
    public Set<String> leaving(String lockPath, Session session) {
        return onPath(lockPath).values().stream()
                .filter(leftover -> leftover.isAheadIn(session))
                .map(leftover -> leftover.node.name())
                .collect(Collectors.toUnmodifiableSet());
    }

    /**
     * Returns why a node of ours on this path cannot be deleted; empty if there is no such node. Otherwise a later
     * request would wait behind that node and never learn why.
     */
    public Optional<LockException> refusalOn(String lockPath) {
        if (!isRefusedOn(lockPath)) {
            return Optional.empty();
        }
        return onPath(lockPath).values().stream() // the oldest first, regardless of turns
                .flatMap(leftover -> leftover.refusal().stream())
                .findFirst();
    }

    /** Whether anything remains to be deleted that the server does not delete when these sessions are closed. */
    public boolean hasNodesBeside(Collection<Session> closing) {
        return all().stream().anyMatch(leftover -> closing.stream().allMatch(leftover::outlives));
    }

    /**
     * Returns a future that completes once each node that is known now is gone, or its deletion was refused; never
     * exceptionally.
     */
    public CompletableFuture<Void> idle() {
        return CompletableFuture.allOf(
                        all().stream().map(leftover -> leftover.gone).toArray(CompletableFuture<?>[]::new))
                .exceptionally(refusal -> null);
    }

    /**
     * Hands all deletions over to the handles that the application keeps, because the client is closed. Whoever waits
     * for one of these deletions gets an error.
     */
    public void leaveToHandles() {
        leaveToHandles(all(), "the client was closed");
    }

    /** Hands over those of these deletions whose nodes may stay otherwise. {@code why} says what has ended. */
    private void leaveToHandles(List<Leftover> all, String why) {
        List<Leftover> left = all.stream().filter(Leftover::staysWithItsHandle).toList();
        left.forEach(leftover -> leftover.leaveToHandle(why));
        left.stream()
                .filter(leftover -> leftover.node.existence() != OwnNode.Existence.CREATED)
                .collect(Collectors.groupingBy(leftover -> Map.entry(leftover.handle(), leftover.node.lockPath())))
                .forEach((where, sought) -> new DeletionAfterClose(where.getKey())
                        .deleteIn(
                                where.getValue(),
                                sought.stream()
                                        .map(leftover -> LockPath.name(leftover.node.prefix()))
                                        .toList()));
        if (!left.isEmpty()) {
            log.warn(
                    "At the lock node {}: {} before it was known that {} of its nodes are gone. They are deleted as soon"
                            + " as the ZooKeeper handle reaches a server, or end with the session of that handle.",
                    left.get(0).node.describe(),
                    why,
                    left.size());
        }
    }

    /** Gives up all deletions, because the client is closed. From now on only the end of its sessions deletes nodes. */
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

    /** Called when a leftover moves from one state to another. */
    void onMove(Leftover leftover, State from, State to) {
        in(from).remove(leftover);
        if (to != State.GONE) {
            in(to).add(leftover);
        }
    }

    /** Returns the leftovers that are in this state. */
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

    /**
     * Returns the session in which to delete the node; null if no session is known. The session may be disconnected.
     */
    @Nullable
    Session sessionFor(OwnNode node) {
        return node.session().isEnded() ? successor : node.session();
    }

    /**
     * Requests another session if the node's own has ended. The answer wakes the waiting deletions, and may come during
     * this call.
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

    /** Returns the path of any node that waits for a session; it appears in messages. */
    @Override
    public String lockPath() {
        return in(State.OFFLINE).stream()
                .map(leftover -> leftover.node.lockPath())
                .findFirst()
                .orElse("/");
    }

    /**
     * Called when no session is left in which to delete nodes. The server deletes each node when it ends the node's
     * session. The application may keep that session, so the deletions are left to its handle.
     */
    @Override
    public void unavailable(LockException why) {
        seeking = false;
        List<Leftover> left = all().stream()
                .filter(leftover -> leftover.node.session().isEnded() && !leftover.isUnderWay())
                .toList();
        leaveToHandles(left, "the session of the client has ended");
        left.forEach(Leftover::finish);
    }

    // ---- After an answer.

    /**
     * Called when a node was found. The nodes that were created by the same {@code multi} exist as well, so any of them
     * that was searched for a moment too early, and missed, is searched for again.
     */
    void onFound(OwnNode node) {
        node.createdTogether().forEach(this::lookFor);
    }

    boolean isRefusedOn(String lockPath) {
        return refused.containsKey(lockPath);
    }

    /**
     * Called when the deletion was refused, for the first time or in its turn. Moves the leftover to the end of the
     * turns on its path. If no other turn is pending, the next one follows after a pause, which grows with the number
     * of refusals of this leftover.
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
     * Called when nothing is left to delete. If the leftover had its turn among refused deletions, the next deletion
     * may succeed, too, and follows now.
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
     * Resets the counter of a path, unless the path is in use. The reset of a path in use fails, so it is tried at most
     * once in a sixth of the session time-out. If another node has left meanwhile, it is tried again after that time.
     */
    private void resetCounter(OwnNode last) {
        String path = last.lockPath();
        boolean wasTriedLately = resets.replace(path, true) != null;
        if (!wasTriedLately && last.session().isConnected()) {
            resets.put(path, false);
            CounterReset reset = new CounterReset(last.session(), path);
            reset.send(
                    List.of(),
                    answer -> last.session().afterAWhile(() -> {
                        if (Boolean.TRUE.equals(resets.remove(path))) {
                            resetCounter(last);
                        }
                    }));
        }
    }
}
