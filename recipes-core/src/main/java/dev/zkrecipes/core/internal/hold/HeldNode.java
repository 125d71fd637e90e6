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
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/**
 * One held node. Until it ends, its state follows from the session's proof of life, without a request to the server.
 * The clock may end it, too: when no write was committed for a whole session time-out, or when its {@link HoldLimit}
 * has elapsed.
 *
 * <p>Any thread may query its state, and end it. What follows from the end is done once, on the engine thread: the
 * {@link NodeCleaner} gets the node, and the session stops checking it. If the thread that ended it dies before handing
 * this task to the engine, the {@link KeepAlive} does it later, by {@link #finishEnd}. Thread-safe.
 */
public final class HeldNode extends Held implements KeepAlive.CheckedNode {
    private final EngineScheduler scheduler;
    private final NodeCleaner cleaner;
    private final OwnNode node;
    private final String nodePath; // a copy for any thread, because OwnNode is confined to the engine thread
    private final long token;
    private final long grantedAt; // by the engine's clock
    private boolean isSeenTo; // whether what follows from the end has begun; confined to the engine thread
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

    NodeCleaner cleaner() {
        return cleaner;
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

    /** The fencing token. Throws if the node is lost, because nothing may be written under the lock then. */
    public long token() {
        requireNotLost();
        return token;
    }

    @Override
    public Map<String, Long> tokens() {
        return Map.of(spec().path(), token());
    }

    /** Does not check the version, because the node's data change when somebody requests the lock back. */
    @Override
    public List<Op> guards() {
        return List.of(Op.check(nodePath, -1));
    }

    @Override
    protected LeaseState standing() {
        return session().isProven() ? LeaseState.HELD : LeaseState.SUSPENDED;
    }

    /** After a session time-out without a committed write, another client may have the lock, so it is lost. */
    @Override
    protected @Nullable End endByNow() {
        if (end() == null && session().isOutlived()) {
            lose(Session.OUTLIVED);
        }
        return super.endByNow();
    }

    /** After any end the cleaner deletes the node, so a lost node need not be released. */
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
        return lost(spec().path() + " (node " + LockPath.name(nodePath) + ")");
    }

    @Override
    public void onNodeGone() {
        lose("its node was deleted by somebody else"); // no effect once it has ended, when we delete the node ourselves
    }

    /**
     * Returns a future that completes on the engine thread once the node is known to be gone; exceptionally as soon as
     * ZooKeeper refuses to delete it.
     */
    public CompletableFuture<Void> gone() {
        return gone;
    }

    /** Never blocks: the engine deletes the node. */
    @Override
    public CompletableFuture<Void> release(boolean waits) {
        if (endByNow() == null && endAsReleased()) { // reads the clock: if its time has elapsed, it ends as LOST
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

    /**
     * Ends it, and does what follows from the end in this call. A thread that has just released it may not have handed
     * that task to the engine yet, and once the session or the client ends there is no time to wait for it.
     */
    @Override
    public void endAtOnce(String reason) {
        lose(reason);
        afterEnd();
    }

    /**
     * Does what follows from the end, in case the thread that ended it died before it could hand the task to the
     * engine.
     */
    @Override
    public void finishEnd() {
        if (end() != null) {
            afterEnd();
        }
    }

    /**
     * Completes {@link #gone} without a deletion: the client is closed and deletes nothing any more, so nobody may wait
     * for it.
     */
    @Override
    public void abandon() {
        lose(LockLog.CLIENT_CLOSED);
        settleEnd();
        gone.complete(null);
    }

    /** Does what follows from the end, once. Call only on the engine thread. */
    private void afterEnd() {
        if (beginAfterEnd()) {
            End last = end();
            if (last != null && last.reason().equals(Session.OUTLIVED)) {
                session().takeForLost(); // before leave(): a session without leases is judged by its connection
            }
            cleaner.discard(node, gone);
            leave();
            if (last != null && last.isLoss()) {
                LockLog.lost(spec().path() + " (node " + LockPath.name(nodePath) + ")", last.reason());
                tellObserver();
            }
        }
    }

    /** Returns whether the caller is the first, and so must do what follows from the end. */
    boolean beginAfterEnd() {
        boolean begins = !isSeenTo;
        isSeenTo = true;
        return begins;
    }

    /** Stops the session's checks of the node, stops its timer, and notifies its listener of a loss. */
    void leave() {
        session().keepAlive().remove(this);
        settleEnd();
    }

    @Override
    public String toString() {
        return "token " + token + ", session 0x"
                + Long.toHexString(session().zk().sessionId());
    }
}
