// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.node;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.KeepAlive;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.thread.Completion;
import dev.zkrecipes.core.internal.thread.Guarded;
import dev.zkrecipes.core.internal.thread.StackReserve;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * One held node. All re-entrant leases of a thread stand on the same grant. A node that passes from holder to holder inside
 * the process has one of these for each of them, and a {@link Succession} for all.
 *
 * <p>It ends once, as RELEASED or as LOST; until then its state is computed from the session's proof of life. Any
 * thread may ask and release.
 */
public final class HeldNode implements KeepAlive.Held {
    /** A token leaves this many low bits for later holders of the same node. */
    private static final int ORDINAL_BITS = 11;

    private static final long FIRST_UNUSABLE_CZXID = 1L << 52;

    private static final AtomicReferenceFieldUpdater<HeldNode, @Nullable End> END =
            AtomicReferenceFieldUpdater.newUpdater(HeldNode.class, End.class, "end");
    private static final AtomicReferenceFieldUpdater<HeldNode, @Nullable Observer> OBSERVER =
            AtomicReferenceFieldUpdater.newUpdater(HeldNode.class, Observer.class, "observer");

    private static final End RELEASED = new End(LeaseState.RELEASED, "");

    private final LockSpec target;
    private final EngineScheduler scheduler;
    private final NodeCleaner cleaner;
    private final OwnNode node;
    private final String nodePath;
    private final long token;
    private final long grantedAt;
    private final @Nullable Span span; // null if it may be held for any time
    private volatile @Nullable End end;
    private volatile @Nullable Listener listener;
    private volatile boolean told;
    private volatile @Nullable Timer timer; // of its span
    private volatile @Nullable Observer observer;
    private final CompletableFuture<Void> gone = new CompletableFuture<>();
    private @Nullable Line line; // set before anybody else sees this

    /** Somebody who has to know when the node is held no more. */
    @FunctionalInterface
    public interface Listener {
        void onNodeEnded(HeldNode node, LeaseState how);
    }

    /** Somebody who keeps an eye on what becomes of it, and changes nothing. */
    public interface Observer {
        /** It was given back; told on the thread that does so. */
        void onReleased();

        /** It was lost; told on the engine thread. */
        void onLost(String reason);

        /** Somebody asks for the lock back, and the application was told. */
        void onRevocationRequested();
    }

    /** The holders of one node, one after the other, of which this is one. */
    interface Line {
        /** The one that the session knows. */
        HeldNode first();

        /** The one that has the node now, or had it last. */
        HeldNode present();

        /** The present one has ended. */
        void onReleased();

        /** The node is gone, or the session that it belongs to. */
        void lose(String reason);

        /** The time of a holder, which may have ended before, is over. */
        void expire(HeldNode holder, String reason);

        /** The node carries requests to give it back, or carries none. */
        void noteRequests(boolean isAsked);
    }

    /** How long it may be held, from when it was granted to this holder. */
    private record Span(Duration most, long endsAt) {}

    /** How it ended, and, if it was lost, why. */
    public record End(LeaseState state, String reason) {}

    /**
     * A node that is held.
     *
     * @param token what {@link #token(OwnNode)} says, or the token of the grant that this one continues
     * @param most how long it may be held; empty for any time
     */
    public HeldNode(
            LockSpec target,
            OwnNode node,
            long token,
            Optional<Duration> most,
            EngineScheduler scheduler,
            NodeCleaner cleaner) {
        this.target = target;
        this.scheduler = scheduler;
        this.cleaner = cleaner;
        this.node = node;
        this.nodePath = node.path();
        this.token = token;
        this.grantedAt = scheduler.nanoTime();
        this.span = most.map(time -> new Span(time, grantedAt + time.toNanos())).orElse(null);
    }

    /** The shared mode that follows from an exclusive one: with its token, and what is left of its time. */
    public HeldNode(HeldNode exclusive, LockSpec target, OwnNode node) {
        this.target = target;
        this.scheduler = exclusive.scheduler;
        this.cleaner = exclusive.cleaner;
        this.node = node;
        this.nodePath = node.path();
        this.token = exclusive.token();
        this.grantedAt = scheduler.nanoTime();
        this.span = exclusive.span;
    }

    /** A later holder of the node that {@code first} was granted. */
    HeldNode(HeldNode first, Line line, long token) {
        this.target = first.target;
        this.scheduler = first.scheduler;
        this.cleaner = first.cleaner;
        this.node = first.node;
        this.nodePath = first.nodePath;
        this.token = token;
        this.grantedAt = first.grantedAt;
        this.line = line;
        Span whole = first.span;
        this.span = whole == null
                ? null
                : new Span(whole.most(), scheduler.nanoTime() + whole.most().toNanos());
    }

    public Session session() {
        return node.session();
    }

    /** From now on it passes to others when it is released. */
    void passesOnIn(Line holders) {
        line = holders;
    }

    EngineScheduler scheduler() {
        return scheduler;
    }

    /** The node carries requests to give it back, or carries none. On the engine thread. */
    public void noteRequests(boolean isAsked) {
        if (line != null) {
            line.noteRequests(isAsked);
        }
    }

    public LockSpec target() {
        return target;
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

    /** The same, whatever has become of it. */
    public long tokenWhenGranted() {
        return token;
    }

    public LeaseState state() {
        End last = end;
        if (last != null) {
            return last.state();
        }
        if (session().isOutlived()) {
            lose(Session.OUTLIVED);
            return state();
        }
        if (isOverdue()) {
            expire();
            return state();
        }
        return session().isProven() ? LeaseState.HELD : LeaseState.SUSPENDED;
    }

    public boolean hasEnded() {
        return end != null;
    }

    /** Whether the state is LOST, which takes less to find out than the state. */
    public boolean isLost() {
        End last = end;
        if (last == null && session().isOutlived()) {
            lose(Session.OUTLIVED);
            last = end;
        } else if (last == null && isOverdue()) {
            expire();
            last = end;
        }
        return last != null && last.state() == LeaseState.LOST;
    }

    /** From now on it is lost when its time is over, if it has one. To be called once, before anybody is told of it. */
    public void limitTime() {
        if (span != null) {
            timer = scheduler.schedule(
                    Duration.ofNanos(Math.max(0, span.endsAt() - scheduler.nanoTime())), this::state);
        }
    }

    private boolean isOverdue() {
        return span != null && scheduler.nanoTime() - span.endsAt() >= 0;
    }

    /** Its time is over; whoever has the node after it has a time of its own. */
    private void expire() {
        StackReserve.requireForATask();
        String reason = "it was held for " + (span == null ? "" : span.most())
                + ", the most that its LockOptions.holdAtMost allows";
        if (line != null) {
            line.expire(this, reason);
        } else if (endAsLost(reason)) {
            scheduler.execute(this::afterEnd);
        }
    }

    public void requireNotLost() {
        if (isLost()) {
            throw lost();
        }
    }

    public LockLostException lost() {
        End last = end;
        return new LockLostException("lost the lock " + lockPath() + " (node " + LockPath.name(nodePath) + "): "
                + (last == null ? "unknown" : last.reason())
                + "; stop what it protects, close every lease of it, then acquire afresh");
    }

    /** The node is gone, whoever has deleted it. */
    public void onNodeGone() {
        lose("its node was deleted by somebody else"); // unless it has ended
    }

    /** Asks, with one committed check, whether the nodes are there, and notes it if one is not. On the engine thread. */
    public static void check(List<HeldNode> grants, Consumer<Code> done) {
        List<String> paths = grants.stream().map(HeldNode::nodePath).toList();
        grants.get(0).session().check(paths, answer -> {
            if (answer.code() == Code.NONODE) {
                grants.get(Session.firstMissing(answer.value())).lose("its node was deleted by somebody else");
            }
            done.accept(answer.code());
        });
    }

    /** Tells the listener, of which there is one, when the node is held no more. */
    public void attach(Listener only) {
        listener = only;
        if (told) {
            only.onNodeEnded(this, endOrThrow().state());
        }
    }

    /** The observer, of which there is one, is told of the end, once. */
    public void observe(Observer only) {
        observer = only;
        End last = end;
        if (last != null) { // whoever ended it has looked before
            tellObserver(last);
        }
    }

    public @Nullable Observer observer() {
        return observer;
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

    /** Completes when the node is known to be gone, on the engine thread, or is another holder's, on any thread. */
    public CompletableFuture<Void> gone() {
        return gone;
    }

    /** Gives back those that have not ended, together; completes when the nodes of all of them are known to be gone. */
    @CanIgnoreReturnValue
    public static CompletableFuture<Void> release(List<HeldNode> grants) {
        StackReserve.requireForATask();
        if (grants.size() == 1) {
            HeldNode only = grants.get(0);
            if (END.compareAndSet(only, null, RELEASED)) {
                only.onReleased();
                only.tellObserver(RELEASED);
            }
            return only.gone;
        }
        List<HeldNode> ending = grants.stream()
                .filter(grant -> END.compareAndSet(grant, null, RELEASED))
                .toList();
        if (!ending.isEmpty()) { // several never pass on
            ending.get(0).scheduler.execute(() -> afterEnd(ending));
            ending.forEach(grant -> grant.tellObserver(RELEASED));
        }
        return CompletableFuture.allOf(grants.stream().map(HeldNode::gone).toArray(CompletableFuture<?>[]::new));
    }

    private void onReleased() {
        if (line != null) {
            line.onReleased();
        } else {
            scheduler.execute(this::afterEnd);
        }
    }

    @Override
    public void lose(String reason) {
        StackReserve.requireForATask();
        if (line != null) {
            line.lose(reason); // whoever has the node now
        } else if (endAsLost(reason)) {
            scheduler.execute(this::afterEnd);
        }
    }

    /** Returns whether it had not ended. */
    boolean endAsLost(String reason) {
        return END.compareAndSet(this, null, new End(LeaseState.LOST, reason));
    }

    /** Another holder has the node, and this one nothing to do with it any more. Any thread. */
    void passedOn() {
        told = true;
        stopTime();
        if (listener != null) {
            scheduler.execute(this::tellListener);
        }
        gone.complete(null);
    }

    /** The client is closed: nobody is left to delete the node, its session's end does. */
    @Override
    public void abandon() {
        lose("the client was closed");
        HeldNode last = line == null ? this : line.present();
        last.tellListener();
        last.gone.complete(null);
    }

    void afterEnd() {
        cleaner.discard(node, gone);
        session().leases().remove(line == null ? this : line.first());
        tellListener();
        tellOfLoss();
    }

    private void tellOfLoss() {
        End last = endOrThrow();
        if (last.state() == LeaseState.LOST) {
            LockLog.lost(this, last.reason());
            tellObserver(last);
        }
    }

    private static void afterEnd(List<HeldNode> grants) {
        List<CompletableFuture<Void>> deletions = grants.get(0)
                .cleaner
                .discard(grants.stream().map(HeldNode::node).toList());
        for (int i = 0; i < grants.size(); i++) {
            HeldNode grant = grants.get(i);
            grant.session().leases().remove(grant);
            Completion.forward(deletions.get(i), grant.gone);
            grant.tellListener();
        }
    }

    private void stopTime() {
        Timer running = timer;
        if (running != null) {
            running.cancel();
        }
    }

    private void tellListener() {
        told = true;
        stopTime();
        Listener last = listener;
        if (last != null) {
            listener = null;
            Guarded.run(() -> last.onNodeEnded(this, endOrThrow().state()));
        }
    }

    private End endOrThrow() {
        End last = end;
        if (last == null) {
            throw new IllegalStateException("not ended");
        }
        return last;
    }

    /**
     * The fencing token of a node.
     *
     * @throws LockException if none can be made
     */
    public static long token(OwnNode node) {
        if (node.czxid() <= 0 || node.czxid() >= FIRST_UNUSABLE_CZXID) {
            throw new LockException("no fencing token can be made of czxid 0x" + Long.toHexString(node.czxid()) + " of "
                    + node.path() + "; the ensemble has outlived this library's tokens");
        }
        return node.czxid() << ORDINAL_BITS;
    }
}
