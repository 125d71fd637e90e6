// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.node;

import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.KeepAlive;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/**
 * One held node. All re-entrant leases of a thread stand on the same one.
 *
 * <p>It ends once, as RELEASED or as LOST; until then its state is computed from the session's proof of life. Any
 * thread may ask and release.
 */
public final class HeldNode implements Held, KeepAlive.Grant {
    private static final AtomicReferenceFieldUpdater<HeldNode, @Nullable End> END =
            AtomicReferenceFieldUpdater.newUpdater(HeldNode.class, End.class, "end");
    private static final AtomicReferenceFieldUpdater<HeldNode, @Nullable Observer> OBSERVER =
            AtomicReferenceFieldUpdater.newUpdater(HeldNode.class, Observer.class, "observer");

    private static final End RELEASED = new End(LeaseState.RELEASED, "");

    private final LockSpec spec;
    private final EngineScheduler scheduler;
    private final NodeCleaner cleaner;
    private final OwnNode node;
    private final String nodePath;
    private final long token;
    private final long grantedAt;
    private final @Nullable HoldLimit limit; // null if it may be held for any time
    private volatile @Nullable End end;
    private volatile @Nullable Listener listener;
    private volatile boolean told;
    private boolean isSeenTo; // on the engine thread
    private volatile @Nullable Observer observer;
    private final CompletableFuture<Void> gone = new CompletableFuture<>();

    /** How it ended, and, if it was lost, why. */
    public record End(LeaseState state, String reason) {}

    /**
     * A node that is held.
     *
     * @param token the node's {@linkplain OwnNode#fencingToken own}, or that of the grant that this one continues
     * @param most how long it may be held; empty for any time
     */
    public HeldNode(
            LockSpec spec,
            OwnNode node,
            long token,
            Optional<Duration> most,
            EngineScheduler scheduler,
            NodeCleaner cleaner) {
        this.spec = spec;
        this.scheduler = scheduler;
        this.cleaner = cleaner;
        this.node = node;
        this.nodePath = node.path();
        this.token = token;
        this.grantedAt = scheduler.nanoTime();
        this.limit = most.map(time -> new HoldLimit(scheduler, time, grantedAt)).orElse(null);
    }

    /** The shared mode that follows from an exclusive one: with its token, and what is left of its time. */
    public HeldNode(HeldNode exclusive, LockSpec spec, OwnNode node) {
        this.spec = spec;
        this.scheduler = exclusive.scheduler;
        this.cleaner = exclusive.cleaner;
        this.node = node;
        this.nodePath = node.path();
        this.token = exclusive.token();
        this.grantedAt = scheduler.nanoTime();
        this.limit = exclusive.limit == null ? null : exclusive.limit.withSameEnd();
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

    @Override
    public LockSpec spec() {
        return spec;
    }

    public OwnNode node() {
        return node;
    }

    public String lockPath() {
        return node.lockPath();
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
        return Map.of(lockPath(), token());
    }

    @Override
    public List<Op> guards() {
        return List.of(Op.check(nodePath, -1));
    }

    @Override
    public LeaseState state() {
        End last = endByNow();
        if (last != null) {
            return last.state();
        }
        return session().isProven() ? LeaseState.HELD : LeaseState.SUSPENDED;
    }

    /** How it ended, even if only the time says so. */
    private @Nullable End endByNow() {
        if (end == null && session().isOutlived()) {
            lose(Session.OUTLIVED);
        } else if (end == null && limit != null && limit.isOver()) {
            lose(limit.reason());
        }
        return end;
    }

    @Override
    public boolean hasEnded() {
        return end != null;
    }

    @Override
    public boolean isKnownAsLost() {
        End last = end;
        return last != null && last.state() == LeaseState.LOST;
    }

    @Override
    public boolean isLost() {
        var unused = endByNow();
        return isKnownAsLost();
    }

    /** Begins the time that it may be held, if it has one. Called once, before anybody is told of the grant. */
    public void limitTime() {
        if (limit != null) {
            limit.begin(this::state);
            if (hasEnded()) {
                limit.end(); // nobody does it later
            }
        }
    }

    @Override
    public LockLostException lost() {
        End last = end;
        return new LockLostException("lost the lock " + lockPath() + " (node " + LockPath.name(nodePath) + "): "
                + (last == null ? "unknown" : last.reason())
                + "; stop what it protects, close every lease of it, then acquire afresh");
    }

    @Override
    public void onNodeGone() {
        lose("its node was deleted by somebody else"); // unless it has ended
    }

    @Override
    public void attach(Listener only) {
        listener = only;
        if (told) {
            only.onEnded(this, endOrThrow().state());
        }
    }

    @Override
    public void observe(Observer only) {
        observer = only;
        End last = end;
        if (last != null) { // the thread that ended it has looked before
            tellObserver(last);
        }
    }

    public @Nullable Observer observer() {
        return observer;
    }

    void tellObserverOfRelease() {
        tellObserver(RELEASED);
    }

    private void tellObserver(End last) {
        Observer only = observer == null ? null : OBSERVER.getAndSet(this, null);
        if (only == null) {
            return;
        }
        if (last.state() == LeaseState.LOST) {
            only.onLost(last.reason());
        } else {
            only.onReleased();
        }
    }

    /** Completes when the node is known to be gone, on the engine thread. */
    public CompletableFuture<Void> gone() {
        return gone;
    }

    /** Never blocks. */
    @Override
    public CompletableFuture<Void> release(boolean waits) {
        if (endByNow() == null && endAsReleased()) { // a look at the clock: its time may be over
            scheduler.execute(this::afterEnd);
            tellObserverOfRelease();
        }
        return gone;
    }

    @Override
    public void lose(String reason) {
        if (endAsLost(reason)) {
            scheduler.execute(this::afterEnd);
        }
    }

    /** Returns whether it had not ended. */
    boolean endAsReleased() {
        return END.compareAndSet(this, null, RELEASED);
    }

    /** Returns whether it had not ended. */
    boolean endAsLost(String reason) {
        return END.compareAndSet(this, null, new End(LeaseState.LOST, reason));
    }

    /** Ends it at once, even if a thread has begun to release it and has not come to the rest. */
    @Override
    public void endAtOnce(String reason) {
        lose(reason);
        afterEnd();
    }

    @Override
    public void abandon() {
        lose("the client was closed");
        tellListener();
        gone.complete(null);
    }

    /** Does what is done once, on the engine thread. */
    void afterEnd() {
        if (beginAfterEnd()) {
            cleaner.discard(node, gone);
            session().keepAlive().remove(this);
            tellListener();
            tellOfLoss();
        }
    }

    /** Whether nobody has. */
    boolean beginAfterEnd() {
        boolean begins = !isSeenTo;
        isSeenTo = true;
        return begins;
    }

    private void tellOfLoss() {
        End last = endOrThrow();
        if (last.state() == LeaseState.LOST) {
            LockLog.lost(nodePath, last.reason());
            tellObserver(last);
        }
    }

    private void stopTime() {
        if (limit != null) {
            limit.end();
        }
    }

    void tellListener() {
        told = true;
        stopTime();
        Listener last = listener;
        if (last != null) {
            listener = null;
            last.onEnded(this, endOrThrow().state());
        }
    }

    private End endOrThrow() {
        End last = end;
        if (last == null) {
            throw new IllegalStateException("not ended");
        }
        return last;
    }

    @Override
    public String toString() {
        return "token " + token + ", session 0x"
                + Long.toHexString(session().zk().sessionId());
    }
}
