// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.internal.clean.NodeCleaner;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.thread.Completion;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/**
 * What backs a hold: one held node for each of its locks, or the single hold of a foreign lock. The parts of a new
 * grant were acquired together. They are checked and released together, and if one part is lost, the grant is lost.
 *
 * <p>A thread that re-enters opens further holds on the same grant, or on a grant that combines parts of several. The
 * grant does not count its holds: {@link LockData} knows which parts still back an open hold. Immutable; the parts are
 * thread-safe.
 */
public final class Grant {
    private static final Grant NOTHING = new Grant(); // has no parts

    private final Held[] parts; // in the order of the locks

    private Grant(Held... parts) {
        this.parts = parts;
    }

    public static Grant of(Held only) {
        return new Grant(only);
    }

    public static Grant of(Collection<? extends Held> parts) {
        return new Grant(parts.toArray(Held[]::new));
    }

    /** Returns a grant of the matching parts. Creates no object for the usual grant of a single part. */
    Grant only(Predicate<Held> wanted) {
        if (isSingle()) {
            return wanted.test(parts[0]) ? this : NOTHING;
        }
        return of(all().filter(wanted).toList());
    }

    private Stream<Held> all() {
        return Arrays.stream(parts);
    }

    public int size() {
        return parts.length;
    }

    boolean isSingle() {
        return parts.length == 1;
    }

    boolean isEmpty() {
        return parts.length == 0;
    }

    /** Returns the part of the first lock, which is the only part if there is one lock. */
    public Held first() {
        return parts[0];
    }

    /**
     * Uses a plain loop instead of a stream: this runs for each re-entry, which should allocate nothing but the hold.
     */
    boolean contains(Held wanted) {
        for (Held part : parts) {
            if (part == wanted) {
                return true;
            }
        }
        return false;
    }

    /** Returns the part of this lock; null if there is none. */
    @Nullable
    Held on(LockSpec spec) {
        return find(part -> part.spec().equals(spec));
    }

    /** Returns a lost part on this path; null if there is none. */
    @Nullable
    Held lostOn(String path) {
        return find(part -> part.spec().path().equals(path) && part.isLost());
    }

    /** Whether a part on this path is still held. The loss of another part of the grant does not matter. */
    boolean standsOn(String path) {
        return find(part -> part.spec().path().equals(path) && !part.hasEnded() && !part.isLost()) != null;
    }

    /** Returns the first part that matches; null if none does. */
    private @Nullable Held find(Predicate<Held> wanted) {
        for (Held part : parts) {
            if (wanted.test(part)) {
                return part;
            }
        }
        return null;
    }

    Stream<LockSpec> specs() {
        return all().map(Held::spec);
    }

    /** Returns the parts as nodes. Call only on a grant of the engine, whose parts are all nodes. */
    public Stream<HeldNode> nodes() {
        return all().map(HeldNode.class::cast);
    }

    /** Returns the paths of the nodes; empty for a foreign lock. */
    Stream<String> nodePaths() {
        return all().flatMap(part -> part instanceof HeldNode node ? Stream.of(node.nodePath()) : Stream.empty());
    }

    // ---- State.

    /** Returns the worst state of all parts. The constants of {@link LeaseState} are declared from best to worst. */
    LeaseState state() {
        LeaseState worst = LeaseState.HELD;
        for (Held part : parts) {
            LeaseState state = part.state();
            worst = state.compareTo(worst) > 0 ? state : worst;
        }
        return worst;
    }

    boolean isLost() {
        return find(Held::isLost) != null;
    }

    /** Whether a part is already known to be lost. Unlike {@link #isLost} this does not read the clock. */
    boolean isKnownAsLost() {
        return find(Held::isKnownAsLost) != null;
    }

    void requireNotLost() {
        for (Held part : parts) {
            part.requireNotLost();
        }
    }

    /** Returns the fencing tokens by lock path. Throws if a part is lost. */
    Map<String, Long> tokens() {
        Map<String, Long> tokens = new HashMap<>();
        all().forEach(part -> tokens.putAll(part.tokens()));
        return Map.copyOf(tokens);
    }

    /** Returns checks, one for each node, that make a {@code multi} fail once the node is gone. */
    List<Op> guards() {
        return all().flatMap(part -> part.guards().stream()).toList();
    }

    /** Sets the single listener of each part. A part that is already lost notifies the listener at once. */
    void attach(Held.Listener listener) {
        for (Held part : parts) {
            part.attach(listener);
        }
    }

    /** Sets the single observer of each part. A part that has already ended notifies the observer at once. */
    void observe(Held.Observer observer) {
        all().forEach(part -> part.observe(observer));
    }

    void prolong(Duration most) {
        all().forEach(part -> part.prolong(most));
    }

    /** Returns the session of the nodes; null if the lock is a foreign one. The nodes of a new grant are of one. */
    public @Nullable Session session() {
        return first() instanceof HeldNode node ? node.session() : null;
    }

    // ---- Checking and releasing all parts together.

    /**
     * Asks the server, by one committed check, whether all nodes exist, and passes the result code to {@code done}. The
     * server stops at the first missing node, so the answer marks only that part as lost. Call only on the engine
     * thread.
     */
    public void check(Consumer<Code> done) {
        List<HeldNode> nodes = nodes().toList();
        List<String> paths = nodes.stream().map(HeldNode::nodePath).toList();
        nodes.get(0).session().check(paths, answer -> {
            if (answer.code() == Code.NONODE) {
                nodes.get(Session.firstRefused(answer)).onNodeGone();
            }
            done.accept(answer.code());
        });
    }

    /**
     * Releases the parts that have not ended, for a caller that does not wait for the result. May be called from any
     * thread.
     */
    @CanIgnoreReturnValue
    public CompletableFuture<Void> release() {
        return release(false);
    }

    /**
     * Releases the parts that have not ended. The future completes once all are gone, see {@link Held#release}. If
     * there are several parts, all are nodes of the engine. They are handed to the cleaner together, so that one
     * request deletes them. May be called from any thread.
     */
    @CanIgnoreReturnValue
    CompletableFuture<Void> release(boolean waits) {
        if (isSingle()) {
            return first().release(waits);
        }
        var unused = isLost(); // reads the clock: a part whose time has elapsed must end as LOST, not as RELEASED
        Grant ending = only(Held::endAsReleased);
        if (!ending.isEmpty()) {
            HeldNode any = ending.nodes().findFirst().orElseThrow();
            any.scheduler().execute(() -> ending.discard(any.cleaner()));
            ending.all().forEach(Held::tellObserver);
        }
        return CompletableFuture.allOf(nodes().map(HeldNode::gone).toArray(CompletableFuture<?>[]::new));
    }

    /**
     * Hands the nodes to the cleaner together, so that one request deletes them. Skips a node that was already handed
     * over when its session or the client ended. Call only on the engine thread.
     */
    private void discard(NodeCleaner cleaner) {
        List<HeldNode> ended = nodes().filter(HeldNode::beginAfterEnd).toList();
        Iterator<CompletableFuture<Void>> deletions =
                cleaner.discard(ended.stream().map(HeldNode::node).toList()).iterator();
        for (HeldNode each : ended) {
            Completion.forward(deletions.next(), each.gone());
            each.leave();
        }
    }

    /** Describes the parts for the log, with the path of each node. */
    String describe() {
        return all().map(part -> part instanceof HeldNode node ? node.nodePath() + ", " + node : part.toString())
                .collect(Collectors.joining("; "));
    }

    /** Describes the parts without their paths, because a lease names its paths itself. */
    @Override
    public String toString() {
        return all().map(Held::toString).distinct().collect(Collectors.joining(", "));
    }
}
