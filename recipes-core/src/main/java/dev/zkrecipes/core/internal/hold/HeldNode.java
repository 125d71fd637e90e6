// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

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
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/** One held node. Until it ends, its state is computed from the session's proof of life. Thread-safe. */
public final class HeldNode extends Held implements KeepAlive.CheckedNode {
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

    /** Hands the nodes to the cleaner in one piece, unless the end of the session or of the client was faster. */
    static void afterEndOf(Grant grant) {
        HeldNode any = (HeldNode) grant.first();
        any.scheduler.execute(() -> {
            List<HeldNode> ended = grant.nodes().filter(HeldNode::beginAfterEnd).toList();
            Iterator<CompletableFuture<Void>> deletions = any.cleaner
                    .discard(ended.stream().map(HeldNode::node).toList())
                    .iterator();
            for (HeldNode each : ended) {
                Completion.forward(deletions.next(), each.gone);
                each.leave();
            }
        });
    }

    @Override
    public String toString() {
        return "token " + token + ", session 0x"
                + Long.toHexString(session().zk().sessionId());
    }
}
