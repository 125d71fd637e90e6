// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.Session;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
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
 * What a hold stands on: the held node of each of its locks, or the one thing that a foreign lock has acquired. All
 * parts are acquired together, and checked and given back together; if one is lost, the grant is lost.
 *
 * <p>A thread that re-enters opens further holds on the same grant, or on parts of it. Thread-safe.
 */
public final class Grant {
    private static final Grant NOTHING = new Grant();

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

    /** The parts that are as wanted. */
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

    /** The part of the first lock. */
    public Held first() {
        return parts[0];
    }

    boolean contains(Held wanted) {
        for (Held part : parts) {
            if (part == wanted) {
                return true;
            }
        }
        return false;
    }

    /** The part of this lock; null if there is none. */
    @Nullable
    Held on(LockSpec spec) {
        for (Held part : parts) {
            if (part.spec().equals(spec)) {
                return part;
            }
        }
        return null;
    }

    Stream<LockSpec> specs() {
        return all().map(Held::spec);
    }

    /** The nodes of a lock of the engine: all that it acquires is a node. */
    public Stream<HeldNode> nodes() {
        return all().map(HeldNode.class::cast);
    }

    // ---- What becomes of it.

    /** The worst state of any part. */
    LeaseState state() {
        LeaseState worst = LeaseState.HELD;
        for (Held part : parts) {
            LeaseState state = part.state();
            worst = state.compareTo(worst) > 0 ? state : worst;
        }
        return worst;
    }

    boolean isLost() {
        for (Held part : parts) {
            if (part.isLost()) {
                return true;
            }
        }
        return false;
    }

    /** Whether the engine knows that a part is lost, without a look at the clock. */
    boolean isKnownAsLost() {
        for (Held part : parts) {
            if (part.isKnownAsLost()) {
                return true;
            }
        }
        return false;
    }

    /** Whether no part has ended. */
    boolean isStanding() {
        return all().noneMatch(part -> part.hasEnded() || part.isLost());
    }

    void requireNotLost() {
        for (Held part : parts) {
            part.requireNotLost();
        }
    }

    Map<String, Long> tokens() {
        Map<String, Long> tokens = new HashMap<>();
        all().forEach(part -> tokens.putAll(part.tokens()));
        return Map.copyOf(tokens);
    }

    List<Op> guards() {
        return all().flatMap(part -> part.guards().stream()).toList();
    }

    /** Sets the only listener of each part. */
    void attach(Held.Listener listener) {
        for (Held part : parts) {
            part.attach(listener);
        }
    }

    /** Sets the only observer of each part. */
    void observe(Held.Observer observer) {
        all().forEach(part -> part.observe(observer));
    }

    void prolong(Duration most) {
        all().forEach(part -> part.prolong(most));
    }

    // ---- Checked and given back together.

    /**
     * Asks, with one committed check, whether the nodes are there. A part whose node is not there is lost. On the
     * engine thread.
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

    /** Gives back the parts that have not ended, without waiting for anything. Any thread. */
    @CanIgnoreReturnValue
    public CompletableFuture<Void> release() {
        return release(false);
    }

    /** Gives back the parts that have not ended; completes when all are gone, see {@link Held#release}. Any thread. */
    @CanIgnoreReturnValue
    CompletableFuture<Void> release(boolean waits) {
        if (isSingle()) {
            return first().release(waits);
        }
        var unused = isLost(); // a look at the clock: the time of a part may be over
        Grant ending = only(Held::endAsReleased);
        if (!ending.isEmpty()) {
            HeldNode.afterEndOf(ending);
            ending.all().forEach(Held::tellObserver);
        }
        return CompletableFuture.allOf(nodes().map(HeldNode::gone).toArray(CompletableFuture<?>[]::new));
    }

    /** With the path of each node. */
    String describe() {
        return all().map(part -> part instanceof HeldNode node ? node.nodePath() + ", " + node : part.toString())
                .collect(Collectors.joining("; "));
    }

    /** Without the paths, which a lease names itself. */
    @Override
    public String toString() {
        return all().map(Held::toString).distinct().collect(Collectors.joining(", "));
    }
}
