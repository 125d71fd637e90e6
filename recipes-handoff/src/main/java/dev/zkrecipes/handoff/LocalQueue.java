// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.handoff;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.QueueLossPolicy;
import dev.zkrecipes.core.QueuePlaceLostException;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.ForeignLock;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockParts;
import dev.zkrecipes.core.spi.MutexDriver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one {@link HandoffMutex}. They wait here, first come, first served, behind one lease of a lock of the
 * engine, which they hold in turns.
 *
 * <pre>
 *   lease is    more requests  no request  lease          turn released       request    lease lost
 *               wait than it   waits       granted                            refused
 *               can serve
 *   none        requested
 *   requested                  none        held, turn 0                       none (1)
 *   held        held and                                  held, turn k + 1,              none (3)
 *               requested                                 kept (4), or
 *                                                         none (2)
 *   held and                   held        held, turn 0   turn k + 1, or      held (1)   requested (3)
 *   requested                                             requested (2)
 *
 *   (1) the first waiting request fails; another lease is requested for the others
 *   (2) released to ZooKeeper: no request waits, the bound is reached, or the lease is not proven, revoked or lost
 *   (3) the holder is notified; the waiting requests fail, too, if the queue-loss policy says so
 *   (4) no request waits, the lease is to be kept, and none of the other reasons in (2) applies
 *
 *   lease is   request made here        others want it    its time has elapsed   lease lost
 *   kept       held, turn k + 1, or     none (6)          none (6)               none (7)
 *              requested (5)
 *
 *   (5) if the lease is not proven: it is released to ZooKeeper, and the request waits for another one
 *   (6) released to ZooKeeper, now; if a turn has just begun, when it ends
 *   (7) nobody is notified; the next request waits for another lease
 * </pre>
 *
 * <p>The node of a second lease is behind all earlier nodes, so it takes nothing from waiters elsewhere. It is granted
 * half a round trip after the last of those nodes is gone.
 *
 * <p><b>A lease that is kept.</b> It is held, but by no turn. When it is kept for the first time,
 * {@link LockInternals#whenWanted} watches the path for as long as the node exists, which costs one request. A waiter
 * that came before that is in the list, and a waiter that comes later causes an event, so none comes unnoticed. It also
 * reports that the connection was lost, that the list was refused, and that the lock was asked back. As long as it has
 * reported nothing, nobody else is known to wait, so the token alone bounds the number of turns in a row. After that,
 * the present turn is the last one. So a waiter elsewhere waits for the turns that begin within half a round trip, and
 * never for more than 2,047.
 *
 * <p>Four threads may meet at a kept lease: one that requests it, one that releases it, the engine's with an event or
 * the timer, and one that reports a loss. Whoever clears {@link Node#isKept} or {@link #held}, with {@link #guard}
 * held, decides what becomes of the lease. The others find it in use, or gone:
 *
 * <ul>
 *   <li>The requesting thread takes the turn first, and then checks whether the lease is proven. If it is not, the turn
 *       ends before anybody has seen it, its number is not used again, and the lease is released to ZooKeeper.
 *   <li>A request takes the kept lease or is queued, in one step, and a release keeps the lease only if no request is
 *       queued. So no request waits beside a kept lease.
 *   <li>An event or the timer that comes during a turn makes this turn the last one, or changes nothing. One timer
 *       serves all leases of the queue. It is never cancelled, and checks the clock when it fires.
 *   <li>When the session is lost or the client is closed, {@link #onLost} closes the kept lease, as it has no holder.
 * </ul>
 *
 * <p><b>One small state under one lock.</b> While {@link #guard} is held, nothing is called, neither futures nor the
 * engine: each event changes the state, and then does what follows. {@link #pass} determines who has the next turn,
 * {@link #look} whether another lease is needed; one of the two is called after each event. A request is served, or has
 * given up, by the first completion of its future. A releasing thread passes the lease on by itself, to a waiting
 * thread, within microseconds.
 */
@SuppressWarnings("CollectionUndefinedEquality") // a future is equal to itself only, which is meant
final class LocalQueue implements ForeignLock {
    /** The number of the last turn; turn 0 is the first. A fencing token has room for 2,048 holders of one node. */
    static final int MOST_HANDOFFS = 2047;

    private static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE);

    /** Two locks with equal rules are one lock for a thread that holds one of them. */
    private record Rule(ZooKeeperClient client, String path, int most, Duration keepFor, LockOptions options) {}

    private final Rule rule;
    private final LockInternals engine;
    private final InterProcessLock lock;
    private final int most;
    private final long keepFor; // in nanoseconds; 0 if leases are not kept
    private final boolean failsWithPlace;

    private final ReentrantLock guard = new ReentrantLock();
    private final Set<CompletableFuture<Hold>> waiting = new LinkedHashSet<>();
    private @Nullable Node held;
    private @Nullable Request asked;
    private boolean isTimed; // whether the timer for kept leases is set

    private LocalQueue(Rule rule, LockInternals engine) {
        this.rule = rule;
        this.engine = engine;
        this.lock = engine.unobserved();
        this.most = rule.most();
        this.keepFor = rule.keepFor().toNanos();
        this.failsWithPlace = rule.options().queueLossPolicy() == QueueLossPolicy.FAIL;
    }

    static InterProcessLock mutex(
            ZooKeeperClient client, String path, int most, Duration keepFor, LockOptions options) {
        if (most < 1 || most > MOST_HANDOFFS) {
            throw new IllegalArgumentException("to be passed on " + most + " times in a row: must be from 1 to "
                    + MOST_HANDOFFS + "; use InterProcessMutex for a lock that is never passed on");
        }
        LockOptions ofNode = options.withoutHoldAtMost(); // each turn has the whole time
        LockInternals engine = new LockInternals(client, path, new MutexDriver(), ofNode);
        LocalQueue queue = new LocalQueue(new Rule(client, engine.path(), most, keepFor, options), engine);
        return LockParts.foreign(queue, options, queue.lock);
    }

    /** A request for a lease, under way. Its future is guarded by {@link #guard}, and null until it was sent. */
    private static final class Request {
        private @Nullable CompletableFuture<Lease> future;
    }

    /** A lease that is held, and the state of its turns. All non-final fields are guarded by {@link #guard}. */
    private static final class Node {
        private final Lease lease;
        private final long firstToken;
        private final List<Op> guards;
        private @Nullable Turn present;
        private @Nullable Thread passing; // the thread that is passing the lease on
        private boolean isKept; // no turn has the lease, and no request waits
        private long keptSince; // by the engine's clock
        private boolean tells; // whether it reports when others want it; true once it was kept
        private boolean watched;
        private boolean retired; // no further turn may begin
        private int turns;

        Node(Lease lease) {
            this.lease = lease;
            long token = 0;
            List<Op> all = List.of();
            try {
                token = lease.fencingToken();
                all = List.of(lease.guard());
            } catch (LockLostException e) {
                // not needed: the lease is lost
            }
            this.firstToken = token;
            this.guards = all;
        }
    }

    private <T extends @Nullable Object> T guarded(Supplier<T> change) {
        guard.lock();
        try {
            return change.get();
        } finally {
            guard.unlock();
        }
    }

    // ---- Requests.

    @Override
    public String path() {
        return engine.path();
    }

    @Override
    public CompletableFuture<Hold> acquireAsync() {
        CompletableFuture<Hold> request = new CompletableFuture<>();
        Turn kept = takeKept(request);
        if (kept != null) {
            request.complete(kept);
            return request;
        }
        var unused = request.whenComplete((hold, failure) -> {
            if (failure != null && guarded(() -> waiting.remove(request))) {
                look();
            }
        });
        look();
        return request;
    }

    @Override
    public Hold acquire() throws InterruptedException {
        Turn kept = takeKept(null);
        return kept != null ? kept : await(acquireAsync(), FOR_EVER).orElseThrow();
    }

    @Override
    public Optional<Hold> tryAcquire(Duration atMost) throws InterruptedException {
        return atMost.isZero() ? tryNow(lock::tryAcquire) : await(acquireAsync(), atMost);
    }

    @Override
    public Optional<Hold> tryAtOnce(Duration limit) {
        return tryNow(() -> LockParts.tryAtOnce(lock, limit));
    }

    private Optional<Hold> tryNow(Supplier<Optional<Lease>> request) {
        Turn kept = takeKept(null);
        if (kept != null) {
            return Optional.of(kept);
        }
        return isBusyHere() ? Optional.empty() : request.get().map(this::begin);
    }

    @Override
    public Hold acquireUninterruptibly() {
        CompletableFuture<Hold> request = acquireAsync();
        try {
            return engine.awaitUninterruptibly(request);
        } catch (Throwable t) {
            abandon(request);
            throw t;
        }
    }

    /** Whether this process has a lease that is proven. A lease that is not proven may already be lost. */
    private boolean isBusyHere() {
        Node node = guarded(() -> held);
        return node != null && node.lease.isValid();
    }

    /** Waits until the request is served. Whatever is thrown, the request is left without a turn. */
    private Optional<Hold> await(CompletableFuture<Hold> request, Duration atMost) throws InterruptedException {
        try {
            Optional<Hold> hold = engine.await(request, atMost);
            if (hold.isPresent()) {
                return hold;
            }
            Optional<LockException> unseen = notSeenBusy(atMost);
            if (request.cancel(false)) {
                if (unseen.isPresent()) {
                    throw unseen.get();
                }
                return Optional.empty();
            }
            return engine.await(request, Duration.ZERO);
        } catch (InterruptedException e) {
            if (request.cancel(false) || request.isCompletedExceptionally()) {
                throw e;
            }
            Optional<Hold> hold = engine.await(request, Duration.ZERO); // served before the interruption
            Thread.currentThread().interrupt();
            return hold;
        } catch (Throwable t) {
            abandon(request);
            throw t;
        }
    }

    private static void abandon(CompletableFuture<Hold> request) {
        if (!request.cancel(false) && !request.isCompletedExceptionally()) {
            Objects.requireNonNull(request.getNow(null)).releaseInBackground();
        }
    }

    private Optional<LockException> notSeenBusy(Duration waited) {
        CompletableFuture<Lease> future = guarded(() -> asked == null ? null : asked.future);
        return isBusyHere() ? Optional.empty() : engine.notSeenBusy(Optional.ofNullable(future), waited);
    }

    @Override
    public List<Participant> participants() throws InterruptedException {
        return lock.participants();
    }

    /**
     * Queues with equal rules are equal: each has its own requests, but a thread that holds the lock through one of
     * them holds it through all.
     */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof LocalQueue queue && queue.rule.equals(rule);
    }

    @Override
    public int hashCode() {
        return rule.hashCode();
    }

    @Override
    public String toString() {
        return "passed on at most " + most + " times in a row";
    }

    // ---- Leases.

    /** Does what follows from the present state. The steps are determined under {@link #guard}, and run without it. */
    private void look() {
        guarded(() -> waiting.isEmpty() ? stepsWhileNobodyWaits() : stepsWhileSomeWait())
                .forEach(Runnable::run);
    }

    /**
     * Returns the steps while no request waits. No other lease is needed. A kept lease has to end when others want it,
     * or when its time has elapsed.
     */
    private List<Runnable> stepsWhileNobodyWaits() {
        List<Runnable> steps = new ArrayList<>(0);
        CompletableFuture<Lease> needless = asked == null ? null : asked.future;
        asked = null;
        if (needless != null) {
            steps.add(() -> needless.cancel(false));
        }
        Node node = held;
        if (node != null && node.isKept) {
            if (!node.tells) {
                node.tells = true;
                steps.add(() -> LockInternals.whenWanted(node.lease, () -> retire(node)));
            }
            if (!isTimed) {
                isTimed = true;
                long over = node.keptSince + keepFor;
                steps.add(() -> engine.after(Duration.ofNanos(Math.max(0, over - engine.nanoTime())), this::onTime));
            }
        }
        return steps;
    }

    /**
     * Returns the steps while requests wait. Another lease is requested if more requests wait than the present one can
     * serve.
     */
    private List<Runnable> stepsWhileSomeWait() {
        List<Runnable> steps = new ArrayList<>(0);
        Node node = held;
        if (node != null && !node.watched) {
            node.watched = true;
            steps.add(() -> node.lease.onRevocationRequested(request -> retire(node)));
        }
        int served = node == null || node.retired ? 0 : mostOf(node) + 1 - node.turns;
        if (asked == null && waiting.size() > served) {
            Request next = new Request();
            asked = next;
            steps.add(() -> ask(next));
        }
        return steps;
    }

    /**
     * Returns the number of the last turn of this lease. While the lease would report that others want it, nobody is
     * known to wait elsewhere, so only the token bounds the turns in a row.
     */
    private int mostOf(Node node) {
        return node.tells ? MOST_HANDOFFS : most;
    }

    private void ask(Request request) {
        CompletableFuture<Lease> future;
        try {
            future = lock.acquireAsync();
        } catch (RuntimeException | Error e) {
            future = CompletableFuture.failedFuture(e);
        }
        CompletableFuture<Lease> made = future;
        boolean isWanted = guarded(() -> {
            request.future = made;
            return asked == request;
        });
        var unused = made.whenComplete((lease, failure) -> onAnswer(request, lease, failure));
        if (!isWanted) {
            made.cancel(false);
        }
    }

    private void onAnswer(Request request, @Nullable Lease lease, @Nullable Throwable failure) {
        Node node = lease == null ? null : new Node(lease);
        boolean isWanted = guarded(() -> {
            if (asked != request) {
                return false;
            }
            asked = null;
            held = node == null ? held : node;
            return true;
        });
        if (node != null) {
            node.lease.onLost(() -> onLost(node));
            if (!isWanted || !pass(node)) {
                var unused = node.lease.closeAsync();
            }
        } else if (isWanted) {
            refuse(Objects.requireNonNull(failure));
            look();
        }
    }

    /**
     * Begins the first turn of a lease that was acquired by a try. If the trying thread is late, the lease may have
     * been lost, and then its token is 0 or lower than that of the lease that was granted since. It takes no place, and
     * its loss concerns no request that waits by now.
     */
    private Hold begin(Lease lease) {
        Node node = new Node(lease);
        Turn turn = guarded(() -> {
            boolean isLater = node.firstToken > (held == null ? 0 : held.firstToken);
            held = isLater ? node : held;
            return turn(node);
        });
        lease.onLost(() -> onLost(node));
        look();
        return turn;
    }

    private Turn turn(Node node) {
        Turn turn = new Turn(node, node.firstToken + node.turns);
        node.turns++;
        node.present = turn;
        return turn;
    }

    /**
     * Lets no further turn of this lease begin. It is released to ZooKeeper when the present turn ends; at once if no
     * turn has it.
     */
    private void retire(Node node) {
        boolean isNobodys = guarded(() -> {
            boolean wasKept = node.isKept;
            node.isKept = false;
            node.retired = true;
            held = wasKept && held == node ? null : held;
            return wasKept;
        });
        if (isNobodys) {
            var unused = node.lease.closeAsync();
        }
        look();
    }

    /**
     * The timer has fired. Releases a kept lease whose time has elapsed. If the lease was used meanwhile, its time
     * began anew with the last release.
     */
    private void onTime() {
        long now = engine.nanoTime();
        Node over = guarded(() -> {
            isTimed = false;
            return held != null && held.isKept && now - held.keptSince >= keepFor ? held : null;
        });
        if (over == null) {
            look();
        } else {
            retire(over);
        }
    }

    /**
     * Keeps the lease, which no turn has any more, if it may have another turn and no request waits. A lease in whose
     * place there is a later one is not kept, because no request would ever find it. Returns whether it is kept. Call
     * with {@link #guard} held.
     */
    private boolean keep(Node node, LeaseState state, long now) {
        node.isKept = held == node
                && keepFor > 0
                && !node.retired
                && waiting.isEmpty()
                && state == LeaseState.HELD
                && node.turns <= mostOf(node);
        node.keptSince = now;
        return node.isKept;
    }

    /**
     * Returns a new turn on the lease that is kept while nobody uses it. If there is none, queues the request and
     * returns null. A try passes null as the request, and is not queued.
     */
    private @Nullable Turn takeKept(@Nullable CompletableFuture<Hold> request) {
        while (true) {
            Node node;
            Turn turn;
            guard.lock();
            try {
                node = held;
                if (node == null || !node.isKept) {
                    if (request != null) {
                        waiting.add(request);
                    }
                    return null;
                }
                node.isKept = false;
                turn = turn(node);
            } finally {
                guard.unlock();
            }
            if (node.lease.state() == LeaseState.HELD) {
                return turn;
            }
            turn.expire(); // nobody has seen this turn
        }
    }

    /**
     * Passes on a lease that no turn has to the next waiting request. If this returns false, the caller has to release
     * the lease to ZooKeeper. It also returns false if a holder releases its turn inside the very call that passes the
     * turn to it: the stack would otherwise grow with each turn.
     */
    private boolean pass(Node node) {
        Thread me = Thread.currentThread();
        guarded(() -> {
            node.retired |= node.passing == me;
            node.passing = me;
            return me;
        });
        boolean isPassed = passOnce(node);
        guarded(() -> node.passing = node.passing == me ? null : node.passing);
        look();
        return isPassed;
    }

    private boolean passOnce(Node node) {
        while (true) {
            LeaseState state = node.lease.state();
            CompletableFuture<Hold> next;
            Turn turn;
            guard.lock();
            try {
                boolean mayPass = !node.retired
                        && node.turns <= mostOf(node)
                        && (state == LeaseState.HELD || (node.turns == 0 && state == LeaseState.SUSPENDED));
                if (!mayPass || waiting.isEmpty()) {
                    node.retired = true;
                    held = held == node && state != LeaseState.LOST ? null : held;
                    return false;
                }
                next = waiting.iterator().next();
                waiting.remove(next);
                turn = turn(node);
            } finally {
                guard.unlock();
            }
            if (next.complete(turn)) {
                return true;
            }
            guarded(
                    () -> { // nobody has seen that token
                        node.present = null;
                        return node.turns--;
                    });
        }
    }

    /**
     * The lease is lost. Notifies the holder. The waiting requests wait for another lease, or fail if the queue-loss
     * policy says so.
     */
    private void onLost(Node node) {
        List<CompletableFuture<Hold>> failed = new ArrayList<>();
        Turn last = guarded(() -> {
            node.retired = true;
            if (held == node) {
                held = null;
                if (failsWithPlace) {
                    failed.addAll(waiting);
                    waiting.clear();
                }
            }
            return node.present;
        });
        if (last != null) {
            last.tellOfLoss();
        } else {
            var unused = node.lease.closeAsync(); // a kept lease is closed by nobody else
        }
        failed.forEach(request -> request.completeExceptionally(placeLost()));
        look();
    }

    private LockException placeLost() {
        return new QueuePlaceLostException("lost the place in the queue of the lock " + path()
                + ", with the lease that this process had: acquire again, or use QueueLossPolicy.REQUEUE");
    }

    /**
     * Fails the first waiting request; if the failure concerns all requests, fails all of them. Another lease is
     * requested for the others.
     */
    private void refuse(Throwable failure) {
        boolean ofAll = failure instanceof QueuePlaceLostException || failure instanceof ClientClosedException;
        List<CompletableFuture<Hold>> told = guarded(() -> {
            List<CompletableFuture<Hold>> first =
                    waiting.stream().limit(ofAll ? waiting.size() : 1).toList();
            first.forEach(waiting::remove);
            return first;
        });
        for (CompletableFuture<Hold> request : told) {
            request.completeExceptionally(ofAll ? copy((LockException) failure) : failure);
        }
    }

    /** Returns a copy, because each thread gets an exception of its own. */
    private static LockException copy(LockException failure) {
        String message = String.valueOf(failure.getMessage());
        return failure instanceof ClientClosedException
                ? new ClientClosedException(message, failure)
                : new QueuePlaceLostException(message);
    }

    /** One holder's turn with a lease. A turn that was released stays released, whatever later holders do. */
    private final class Turn implements Hold {
        private final Node node;
        private final long token;
        private Runnable whenLost = () -> {}; // guarded by guard
        private volatile @Nullable LeaseState endedAs;
        private volatile boolean closes;

        Turn(Node node, long token) {
            this.node = node;
            this.token = token;
        }

        @Override
        public LeaseState state() {
            LeaseState ended = endedAs;
            return ended != null ? ended : node.lease.state();
        }

        @Override
        public void onLost(Runnable listener) {
            guarded(() -> whenLost = listener);
            if (state() == LeaseState.LOST) {
                tellOfLoss();
            }
        }

        private void tellOfLoss() {
            Runnable told = guarded(() -> {
                Runnable listener = whenLost;
                whenLost = () -> {};
                return listener;
            });
            told.run();
        }

        @Override
        public void release() {
            if (!end(false)) {
                node.lease.close();
            }
        }

        @Override
        public void releaseInBackground() {
            if (!end(false)) {
                var unused = node.lease.closeAsync();
            }
        }

        /** Also releases the node, so that whatever the holder does with its guards fails. */
        @Override
        public void expire() {
            if (!end(true)) {
                var unused = node.lease.closeAsync();
            }
        }

        /** Ends this turn. Returns false if the caller has to release the lease to ZooKeeper. */
        private boolean end(boolean isForGood) {
            LeaseState last = node.lease.state();
            long now = engine.nanoTime();
            boolean isKept;
            boolean isWatched;
            guard.lock();
            try {
                endedAs = last;
                node.present = null;
                node.retired |= isForGood;
                isKept = keep(node, last, now);
                isWatched = isKept && node.tells && isTimed;
            } finally {
                guard.unlock();
            }
            if (last == LeaseState.LOST) {
                tellOfLoss();
            }
            closes = !isKept && !pass(node);
            if (isKept && !isWatched) {
                look();
            }
            return !closes;
        }

        @Override
        public CompletableFuture<Void> released() {
            return closes ? node.lease.closeAsync() : CompletableFuture.completedFuture(null);
        }

        @Override
        public Map<String, Long> fencingTokens() {
            if (endedAs == null && node.lease.state() == LeaseState.LOST) {
                var unused = node.lease.fencingToken(); // throws the reason
            }
            return Map.of(path(), token);
        }

        @Override
        public List<Op> guards() {
            return node.guards;
        }

        @Override
        public void verify() throws InterruptedException {
            try {
                node.lease.verify();
            } catch (IllegalMonitorStateException e) {
                if (endedAs == null) { // otherwise the hold was released meanwhile, which is reported to the caller
                    throw e;
                }
            }
        }

        @Override
        public void onRevocationRequested(Consumer<RevocationRequest> listener) {
            node.lease.onRevocationRequested(request -> {
                if (endedAs == null) {
                    retire(node);
                    listener.accept(request);
                }
            });
        }

        @Override
        public String toString() {
            return "turn " + (token - node.firstToken) + " of " + node.lease;
        }
    }
}
