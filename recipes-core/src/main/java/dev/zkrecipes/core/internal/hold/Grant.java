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
 * What a hold stands on: one held node for each of its locks, or the single hold of a foreign lock. The parts of a
 * new grant were acquired together. They are checked and released together, and if one part is lost, the grant is
 * lost.
 *
 * <p>A thread that re-enters opens further holds on the same grant, or on a grant that combines parts of several. The
 * grant does not count its holds: {@link LockData} knows on which parts an open hold still stands. Immutable, so any
 * thread may use it; the parts are thread-safe.
 */
public final class Grant {
    private static final Grant NOTHING = new Grant(); // no part

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

    /** The parts that match. Most grants have a single part, which needs neither a stream nor a new object. */
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

    /** The part of the first lock: the only part, if there is one lock. */
    public Held first() {
        return parts[0];
    }

    /** A loop of its own, because each re-entry asks, and is to make no object but the hold. */
    boolean contains(Held wanted) {
        for (Held part : parts) {
            if (part == wanted) {
                return true;
            }
        }
        return false;
    }

    /** The part that belongs to this lock; null if there is none. */
    @Nullable
    Held on(LockSpec spec) {
        return find(part -> part.spec().equals(spec));
    }

    /** A part on this path that is lost; null if none is. */
    @Nullable
    Held lostOn(String path) {
        return find(part -> part.spec().path().equals(path) && part.isLost());
    }

    /** Whether a part on this path stands. It does although another part of the grant is lost. */
    boolean standsOn(String path) {
        return find(part -> part.spec().path().equals(path) && !part.hasEnded() && !part.isLost()) != null;
    }

    /** The first part that matches; null if none does. */
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

    /** The parts as nodes. Only for a grant of the engine, whose parts are all nodes. */
    public Stream<HeldNode> nodes() {
        return all().map(HeldNode.class::cast);
    }

    /** The paths of its nodes; none for a foreign lock. */
    Stream<String> nodePaths() {
        return all().flatMap(part -> part instanceof HeldNode node ? Stream.of(node.nodePath()) : Stream.empty());
    }

    // ---- Its state.

    /** The worst state of all parts: the constants of {@link LeaseState} stand in this order. */
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
        all().forEach(Held::requireNotLost);
    }

    /** The fencing tokens by lock path. Throws if a part is lost. */
    Map<String, Long> tokens() {
        Map<String, Long> tokens = new HashMap<>();
        all().forEach(part -> tokens.putAll(part.tokens()));
        return Map.copyOf(tokens);
    }

    /** Checks that fail a {@code multi} once a part is gone, one for each node. */
    List<Op> guards() {
        return all().flatMap(part -> part.guards().stream()).toList();
    }

    /** Sets the only listener of each part. A part that is lost already tells it at once. */
    void attach(Held.Listener listener) {
        for (Held part : parts) {
            part.attach(listener);
        }
    }

    /** Sets the only observer of each part. A part that has ended already tells it at once. */
    void observe(Held.Observer observer) {
        all().forEach(part -> part.observe(observer));
    }

    void prolong(Duration most) {
        all().forEach(part -> part.prolong(most));
    }

    // ---- Checked and released together.

    /**
     * Asks the server, with one committed check, whether all nodes exist. {@code done} gets the code. The server
     * stops at the first node that is missing, so only that part is lost by this answer. On the engine thread.
     */
    public void check(Consumer<Code> done) {
        List<HeldNode> nodes = nodes().toList();
        List<String> paths = nodes.stream().map(HeldNode::nodePath).toList();
        nodes.get(0).session().check(paths, answer -> {
            if (answer.code() == Code.NONODE) {
                nodes.get(Session.firstMissing(answer.value())).onNodeGone();
            }
            done.accept(answer.code());
        });
    }

    /** Releases the parts that have not ended; a caller that does not wait for the result uses this. Any thread. */
    @CanIgnoreReturnValue
    public CompletableFuture<Void> release() {
        return release(false);
    }

    /**
     * Releases the parts that have not ended. The future completes once all are gone, see {@link Held#release}.
     * Several parts are always nodes of the engine: they are handed to the cleaner together, so that one request
     * deletes them. Any thread.
     */
    @CanIgnoreReturnValue
    CompletableFuture<Void> release(boolean waits) {
        if (isSingle()) {
            return first().release(waits);
        }
        var unused = isLost(); // reads the clock: a part whose time is over must end as LOST, not as RELEASED
        Grant ending = only(Held::endAsReleased);
        if (!ending.isEmpty()) {
            HeldNode any = ending.nodes().findFirst().orElseThrow();
            any.scheduler().execute(() -> ending.discard(any.cleaner()));
            ending.all().forEach(Held::tellObserver);
        }
        return CompletableFuture.allOf(nodes().map(HeldNode::gone).toArray(CompletableFuture<?>[]::new));
    }

    /**
     * Hands the nodes to the cleaner together, so that one request deletes them. A node that the end of the session or
     * of the client has handed over already is left out. On the engine thread.
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
