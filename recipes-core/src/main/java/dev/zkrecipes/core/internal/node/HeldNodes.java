// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.node;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.thread.Completion;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/** The nodes of one grant, one for each lock that was acquired with it. They are checked and given back together. */
public final class HeldNodes {
    private HeldNodes() {}

    // ---- What has become of them. Loops by index: each of these is asked for every lease, and must not allocate.

    public static @Nullable Held on(LockSpec spec, List<? extends Held> grants) {
        for (int i = 0; i < grants.size(); i++) {
            if (grants.get(i).spec().equals(spec)) {
                return grants.get(i);
            }
        }
        return null;
    }

    public static boolean anyIsLost(List<? extends Held> grants) {
        for (int i = 0; i < grants.size(); i++) {
            if (grants.get(i).isLost()) {
                return true;
            }
        }
        return false;
    }

    /** Whether the engine knows that one is lost, without a look at the clock. */
    public static boolean anyIsKnownAsLost(List<? extends Held> grants) {
        for (int i = 0; i < grants.size(); i++) {
            if (grants.get(i).isKnownAsLost()) {
                return true;
            }
        }
        return false;
    }

    /** The worst of their states. */
    public static LeaseState state(List<? extends Held> grants) {
        LeaseState worst = LeaseState.HELD;
        for (int i = 0; i < grants.size(); i++) {
            LeaseState state = grants.get(i).state();
            worst = state.compareTo(worst) > 0 ? state : worst;
        }
        return worst;
    }

    public static void requireNoneLost(List<? extends Held> grants) {
        for (int i = 0; i < grants.size(); i++) {
            grants.get(i).requireNotLost();
        }
    }

    // ---- What is done with them.

    @CanIgnoreReturnValue
    public static CompletableFuture<Void> release(List<? extends Held> grants) {
        return release(grants, false);
    }

    /**
     * Gives back those that have not ended; completes when all are known to be gone, see {@link Held#release}. Any
     * thread.
     */
    @CanIgnoreReturnValue
    public static CompletableFuture<Void> release(List<? extends Held> grants, boolean waits) {
        if (grants.size() == 1) {
            return grants.get(0).release(waits);
        }
        List<HeldNode> nodes = nodes(grants);
        var unused = anyIsLost(nodes); // a look at the clock
        List<HeldNode> ending = nodes.stream().filter(Held::endAsReleased).toList();
        if (!ending.isEmpty()) {
            ending.get(0).scheduler().execute(() -> afterEnd(ending));
            ending.forEach(Held::tellObserver);
        }
        return CompletableFuture.allOf(nodes.stream().map(HeldNode::gone).toArray(CompletableFuture<?>[]::new));
    }

    /** What a lock of the engine has acquired; only that is acquired together. */
    public static List<HeldNode> nodes(List<? extends Held> grants) {
        return grants.stream().map(HeldNode.class::cast).toList();
    }

    /** Hands the nodes to the cleaner in one piece, unless the end of the session or of the client was faster. */
    private static void afterEnd(List<HeldNode> all) {
        List<HeldNode> ended = all.stream().filter(HeldNode::beginAfterEnd).toList();
        if (ended.isEmpty()) {
            return;
        }
        List<CompletableFuture<Void>> deletions = ended.get(0)
                .cleaner()
                .discard(ended.stream().map(HeldNode::node).toList());
        for (int i = 0; i < ended.size(); i++) {
            HeldNode grant = ended.get(i);
            grant.session().keepAlive().remove(grant);
            Completion.forward(deletions.get(i), grant.gone());
            grant.tellListener();
        }
    }

    /** Asks, with one committed check, whether the nodes are there. One that is not is lost. On the engine thread. */
    public static void check(List<HeldNode> grants, Consumer<Code> done) {
        List<String> paths = grants.stream().map(HeldNode::nodePath).toList();
        grants.get(0).session().check(paths, answer -> {
            if (answer.code() == Code.NONODE) {
                grants.get(Session.firstMissing(answer.value())).onNodeGone();
            }
            done.accept(answer.code());
        });
    }
}
