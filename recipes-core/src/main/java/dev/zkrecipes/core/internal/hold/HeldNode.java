// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.internal.clean.NodeCleaner;
import dev.zkrecipes.core.internal.clean.OwnNode;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.KeepAlive;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.thread.Completion;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/** One held node. Until it ends, its state is computed from the session's proof of life. Thread-safe. */
public final class HeldNode extends Held implements KeepAlive.Grant {
    private final EngineScheduler scheduler;
    private final NodeCleaner cleaner;
    private final OwnNode node;
    private final String nodePath;
    private final long token;
    private final long grantedAt;
    private boolean isSeenTo; // on the engine thread
    private final CompletableFuture<Void> gone = new CompletableFuture<>();

    public HeldNode(
            LockSpec spec, OwnNode node, @Nullable HoldLimit limit, EngineScheduler scheduler, NodeCleaner cleaner) {
        super(spec, limit);
        this.scheduler = scheduler;
        this.cleaner = cleaner;
        this.node = node;
        this.nodePath = node.path();
        this.token = node.fencingToken();
        this.grantedAt = scheduler.nanoTime();
    }

    public Session session() {
        return node.session();
    }

    public EngineScheduler scheduler() {
        return scheduler;
    }

    public OwnNode node() {
        return node;
    }

    @Override
    public String nodePath() {
        return nodePath;
    }

    @Override
    public long grantedAt() {
        return grantedAt;
    }

    public long token() {
        requireNotLost();
        return token;
    }

    @Override
    public Map<String, Long> tokens() {
        return Map.of(spec().path(), token());
    }

    @Override
    public List<Op> guards() {
        return List.of(Op.check(nodePath, -1));
    }

    @Override
    protected LeaseState standing() {
        return session().isProven() ? LeaseState.HELD : LeaseState.SUSPENDED;
    }

    @Override
    protected @Nullable End endByNow() {
        if (end() == null && session().isOutlived()) {
            lose(Session.OUTLIVED);
        }
        return super.endByNow();
    }

    @Override
    public boolean hasEnded() {
        return end() != null;
    }

    @Override
    public boolean isLost() {
        End last = endByNow();
        return last != null && last.isLoss();
    }

    @Override
    public LockLostException lost() {
        End last = end();
        return new LockLostException("lost the lock " + spec().path() + " (node " + LockPath.name(nodePath) + "): "
                + (last == null ? "unknown" : last.reason())
                + "; stop what it protects, close every lease of it, then acquire afresh");
    }

    @Override
    public void onNodeGone() {
        lose("its node was deleted by somebody else"); // unless it has ended
    }

    /** Completes when the node is known to be gone, on the engine thread. */
    public CompletableFuture<Void> gone() {
        return gone;
    }

    @Override
    public CompletableFuture<Void> release(boolean waits) {
        if (endByNow() == null && endAsReleased()) { // a look at the clock: its time may be over
            scheduler.execute(this::afterEnd);
            tellObserver();
        }
        return gone;
    }

    @Override
    public void lose(String reason) {
        if (endAsLost(reason)) {
            scheduler.execute(this::afterEnd);
        }
    }

    /** Ends it at once, even if a thread has begun to release it and has not come to the rest. */
    @Override
    public void endAtOnce(String reason) {
        lose(reason);
        afterEnd();
    }

    @Override
    public void finishEnd() {
        if (end() != null) {
            afterEnd();
        }
    }

    @Override
    public void abandon() {
        lose(LockLog.CLIENT_CLOSED);
        settleEnd();
        gone.complete(null);
    }

    /** Does what is done once, on the engine thread. */
    private void afterEnd() {
        if (beginAfterEnd()) {
            End last = end();
            if (last != null && last.reason().equals(Session.OUTLIVED)) {
                session().takeForLost(); // before it leaves
            }
            cleaner.discard(node, gone);
            leave();
            if (last != null && last.isLoss()) {
                LockLog.lost(spec().path() + " (node " + LockPath.name(nodePath) + ")", last.reason());
                tellObserver();
            }
        }
    }

    private boolean beginAfterEnd() {
        boolean begins = !isSeenTo;
        isSeenTo = true;
        return begins;
    }

    private void leave() {
        session().keepAlive().remove(this);
        settleEnd();
    }

    // ---- The nodes of one grant, one for each lock, are checked and given back together.

    @CanIgnoreReturnValue
    public static CompletableFuture<Void> release(List<? extends Held> grants) {
        return release(grants, false);
    }

    /** Gives back those that have not ended; completes when all are gone, see {@link #release(boolean)}. Any thread. */
    @CanIgnoreReturnValue
    public static CompletableFuture<Void> release(List<? extends Held> grants, boolean waits) {
        if (grants.size() == 1) {
            return grants.get(0).release(waits);
        }
        List<HeldNode> nodes = nodes(grants);
        var unused = anyIsLost(nodes); // a look at the clock
        List<HeldNode> ending = nodes.stream().filter(Held::endAsReleased).toList();
        if (!ending.isEmpty()) {
            ending.get(0).scheduler.execute(() -> afterEnd(ending));
            ending.forEach(Held::tellObserver);
        }
        return CompletableFuture.allOf(nodes.stream().map(each -> each.gone).toArray(CompletableFuture<?>[]::new));
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
        List<CompletableFuture<Void>> deletions =
                ended.get(0).cleaner.discard(ended.stream().map(HeldNode::node).toList());
        for (int i = 0; i < ended.size(); i++) {
            Completion.forward(deletions.get(i), ended.get(i).gone);
            ended.get(i).leave();
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

    @Override
    public String toString() {
        return "token " + token + ", session 0x"
                + Long.toHexString(session().zk().sessionId());
    }
}
