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
 * Deletes nodes until a server confirms that they are gone. Releases and abandoned attempts both end here.
 *
 * <pre>
 *   UNANSWERED -- the answer to its create --+
 *   READY ------- room, or a new request ----+            +-- gone, as the server says --&gt; GONE
 *   RESTING ----- a timer, or a new request -+--&gt; SENT ---+-- no answer -----------------&gt; RESTING
 *   REFUSED ----- its turn ------------------+            +-- refused -------------------&gt; REFUSED
 *   OFFLINE ----- a connection --------------+
 *                                            |            +-- found ---------------------&gt; SENT
 *                         if it may not exist+--&gt; SOUGHT -+-- no answer, or refused -----&gt; likewise
 *                                                         +-- missed --------------------&gt; GONE; SOUGHT twice later
 * </pre>
 *
 * <ul>
 *   <li>A deletion uses the node's own session while that lives, then the client's next one: a session that ended for
 *       us may live on at the server. At most {@value #WINDOW} are under way at a time. What has to be looked for takes
 *       no place before it is found, so that one list serves all.
 *   <li>A deletion that ZooKeeper refuses is reported at once, to its waiters and in the log, and repeated until the
 *       node is gone. The right to delete is the path's, so those that were refused on one path take turns at growing
 *       intervals. When one of them is gone, the next follows at once.
 * </ul>
 *
 * <p>Confined to the engine thread.
 */
public final class NodeCleaner implements SessionSource.User {
    private static final int WINDOW = 100;

    /** How often the rest between two turns of refused deletions doubles; it begins with a request time-out. */
    private static final int MOST_DOUBLINGS = 4;

    /**
     * When one that was missed is looked for again, in halves of the session time-out. A time-out is two ticks or more,
     * and the leader drops a server that it has not heard for {@code syncLimit} ticks: for a limit of ten, which is
     * twice the usual one, after five time-outs.
     */
    private static final List<Integer> NEXT_LOOKS = List.of(3, 12);

    final EngineScheduler scheduler;
    final Pauses pauses;
    private final SessionSource sessions;
    private final Supplier<Duration> requestTimeout;
    private final Map<String, Map<OwnNode, Leftover>> pending = new HashMap<>(); // by path, the oldest first
    private final Set<Leftover> ready = new LinkedHashSet<>(); // those in this state, and so on
    private final Set<Leftover> offline = new LinkedHashSet<>();
    private final Set<Leftover> resting = new LinkedHashSet<>();
    private final Set<Leftover> sent = new LinkedHashSet<>();
    private final Map<State, Set<Leftover>> inState =
            Map.of(State.READY, ready, State.OFFLINE, offline, State.RESTING, resting, State.SENT, sent);
    private final Map<String, Set<Leftover>> refused = new HashMap<>(); // by path, in the order of their turns
    private final Map<String, Boolean> resets = new HashMap<>(); // tried lately; whether a node has left since
    private @Nullable Session successor; // of sessions that have ended
    private boolean seeking;
    private boolean abandoned;

    /** A deletion that gets no answer is paced; one that was refused rests for the request time-out at first. */
    public NodeCleaner(
            EngineScheduler scheduler, Pauses pauses, SessionSource sessions, Supplier<Duration> requestTimeout) {
        this.scheduler = scheduler;
        this.pauses = pauses;
        this.sessions = sessions;
        this.requestTimeout = requestTimeout;
    }

    // ---- What others ask for.

    /**
     * Ensures that these nodes, all of one session, are deleted; a future for each completes when it is gone. Several
     * are deleted by one {@code multi}, if they are there; otherwise each by itself. When a node is gone that was alone
     * on an old counter, the counter is reset if nobody has come. A node whose create is not answered yet is deleted as
     * soon as it is.
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

    /** Deletes one node. {@code gone} completes when it is gone; exceptionally as soon as that is refused. */
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
     * This node was looked for behind a committed write and was not there. The write comes after the create in all
     * cases but one: the client has come back to the server that it lost, while a thread of that server stood still
     * with the create in its hands. Only time settles that. So the node is looked for again after the time in which the
     * session would have ended without the client; and a last time when a server that was also cut off from the others
     * must have passed on what it had, or have lost it.
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

    private void lookFor(OwnNode node) {
        if (node.existence() == OwnNode.Existence.MISSING
                && !onPath(node.lockPath()).containsKey(node)) {
            discard(node, new CompletableFuture<>());
        }
    }

    /** Somebody has deleted a node of ours: a deletion of it that rests after a refusal need not rest any longer. */
    public void onNodeGone(String nodePath) {
        List.copyOf(onPath(LockPath.parent(nodePath)).values()).forEach(leftover -> leftover.onNodeGone(nodePath));
    }

    /** Sends these paths' postponed deletions now, so that no client queues behind its own abandoned node. */
    public void flush(List<String> lockPaths) {
        if (hasPostponed()) { // not for each of a thousand requests while there is no connection
            lockPaths.forEach(path -> List.copyOf(onPath(path).values()).forEach(Leftover::hurry));
        }
    }

    /** A session was connected or has ended: what waited for that continues. */
    public void wake() {
        for (Leftover leftover : List.copyOf(offline)) {
            if (offline.contains(leftover)) { // still
                leftover.begin();
            }
        }
    }

    /** Names of nodes whose deletion comes before what is sent next in this session, and was not refused. */
    public Set<String> leaving(String lockPath, Session session) {
        return onPath(lockPath).values().stream()
                .filter(leftover -> leftover.isAheadIn(session))
                .map(leftover -> leftover.node.name())
                .collect(Collectors.toUnmodifiableSet());
    }

    /** Why a node of ours on this path cannot be deleted; empty if there is none. Later requests stand behind it. */
    public Optional<LockException> refusalOn(String lockPath) {
        if (!isRefusedOn(lockPath)) {
            return Optional.empty();
        }
        return onPath(lockPath).values().stream() // the oldest first, whichever is tried next
                .flatMap(leftover -> leftover.refusal().stream())
                .findFirst();
    }

    /** Whether anything is still to be deleted that the end of these sessions does not delete. */
    public boolean hasNodesBeside(Collection<Session> closing) {
        return all().stream().anyMatch(leftover -> closing.stream().allMatch(leftover::outlives));
    }

    /** Completes when everything that is known now is deleted; never exceptionally. */
    public CompletableFuture<Void> idle() {
        return CompletableFuture.allOf(
                        all().stream().map(leftover -> leftover.gone).toArray(CompletableFuture<?>[]::new))
                .exceptionally(refusal -> null);
    }

    /** The client is closed, so only the end of its sessions deletes nodes now. */
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

    // ---- What leftovers wait for.

    void onMove(Leftover leftover, State from, State to) {
        Set<Leftover> left = inState.get(from);
        if (left != null) {
            left.remove(leftover);
        }
        Set<Leftover> entered = inState.get(to);
        if (entered != null) {
            entered.add(leftover);
        }
    }

    boolean hasPostponed() {
        return !ready.isEmpty() || !resting.isEmpty();
    }

    boolean hasRoom() {
        return sent.size() < WINDOW && ready.isEmpty();
    }

    void pump() {
        while (sent.size() < WINDOW && !ready.isEmpty()) {
            ready.iterator().next().hurry();
        }
    }

    /** The session to delete it in, which need not be connected; null if there is none. */
    @Nullable
    Session sessionFor(OwnNode node) {
        return node.session().isEnded() ? successor : node.session();
    }

    /** Asks for another session if its own has ended; that wakes what waits, perhaps at once. */
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

    @Override
    public String lockPath() {
        return offline.stream()
                .map(leftover -> leftover.node.lockPath())
                .findFirst()
                .orElse("/");
    }

    /** No session is left to delete with; the server deletes a node when it ends the node's session. */
    @Override
    public void unavailable(LockException why) {
        seeking = false;
        all().stream()
                .filter(leftover -> leftover.node.session().isEnded() && !leftover.isUnderWay())
                .forEach(Leftover::finish);
    }

    // ---- What becomes of them.

    /** Takes the nodes created with it as found, too. One that is missing was looked for just before that. */
    void onFound(OwnNode node) {
        node.createdTogether.forEach(this::lookFor);
    }

    boolean isRefusedOn(String lockPath) {
        return refused.containsKey(lockPath);
    }

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
}
