// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.leader;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.IncompatibleNodeException;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A candidate for the leadership of a path: of all that stand for it, one leads at a time.
 *
 * <pre>{@code
 * LeaderElection election = new LeaderElection(client, "/leaders/billing");
 * election.run(term -> {                                   // joins, and leads whenever it is elected
 *     while (term.awaitValid(Duration.ofSeconds(30))) {    // waits while the connection is lost
 *         billing.next(term.number());                     // interrupted when the term ends
 *     }
 * });
 * }</pre>
 *
 * <p><b>Order.</b> Candidates lead in the order in which ZooKeeper received their requests. After a term a candidate
 * queues again, at the end, until it leaves. <b>Session loss:</b> the term is lost and free for others; a waiting
 * candidate queues again. <b>Ownership:</b> the leadership belongs to this object. <b>Promise:</b> one candidate has
 * the path at a time, by ZooKeeper's order of events; {@link #isLeader} is true only while that is proven, by the local
 * clock. See {@link Term}.
 *
 * <pre>
 *            join                   granted              resign, leave, lost
 *   left ----------&gt; candidate ---------------&gt; leading ---------------------&gt; ending
 *    ^                 |    ^      told, work done, given back: stands again      |  |
 *    +--leave, refused-+    +-----------------------------------------------------+  |
 *    +------- told, work done, given back: has left meanwhile -----------------------+
 * </pre>
 *
 * <p>A term is one lease. While it ends, {@link #isLeader} is false, its work is interrupted and listeners are told.
 * When that is over and the work done, the node is deleted, and only then the next request is sent: no candidate has
 * two terms at once, and one that resigns has stopped before another one leads. Any thread may call anything at any
 * time; what ends a term first counts. A grant that meets {@code leave} is given back; {@code resign} before a grant
 * does nothing; {@code join} while a term ends stands for the next one. A candidate whose request is refused or whose
 * client is closed has left.
 *
 * <p><b>End:</b> {@link #close} waits until the leader has stopped and its node is deleted, and so do {@link #run},
 * {@link #runOnce} and {@link ZooKeeperClient#close}, whatever is closed first.
 *
 * <p>Its nodes are named and ordered as those of Apache Curator's {@code LeaderLatch}: both stand in one queue. But
 * Curator's {@code LeaderSelector} does not notice them, and leads beside a leader of this kind: do not mix the two on
 * a path. Instances are thread-safe.
 */
public final class LeaderElection implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(LeaderElection.class);
    private static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE);

    /** As Curator's {@code LeaderLatch} names its nodes, so that both stand in one queue. */
    private static final String NODE_NAME = "latch-";

    private static final String BESIDE_A_SELECTOR =
            ". If that is a node of Curator's LeaderSelector (lock-), it leads beside a leader of this kind";

    private final LockInternals engine;
    private final InterProcessLock lock;
    private final Executor calls;
    private final AtomicBoolean running = new AtomicBoolean();
    private final List<LeaderListener> listeners = new CopyOnWriteArrayList<>();
    // One small state under one lock, while which nothing is called: each event changes it, then does what follows. A
    // monitor, because at the end of the stack ReentrantLock may throw and stay locked.
    private final Object guard = new Object();
    private final List<CompletableFuture<Optional<Term>>> waiting = new ArrayList<>();
    private boolean isCandidate;
    private @Nullable LockException refusal; // why it is no candidate any more
    private @Nullable CompletableFuture<?> request; // under way; only ever cancelled
    private volatile @Nullable Term term; // leading, or ending
    private volatile Term.Release gone = new Term.Release(); // of the last term that began
    private @Nullable Term announced; // listeners know
    private volatile @Nullable Thread telling; // a listener is called there

    /**
     * Makes a candidate with the default settings.
     *
     * @param client the client to use
     * @param path absolute path of the election, below the client's chroot; created on first use
     */
    public LeaderElection(ZooKeeperClient client, String path) {
        this(client, path, LockOptions.defaults());
    }

    /**
     * Makes a candidate, which does not stand yet.
     *
     * @param client the client to use
     * @param path absolute path of the election, below the client's chroot; created on first use
     * @param options optional settings: after {@link LockOptions#withHoldAtMost} a term is lost; with the policy FAIL a
     *     waiting candidate that loses its place is {@linkplain LeaderListener#withdrawn withdrawn}
     * @throws IllegalArgumentException if the path is not a valid absolute path
     */
    public LeaderElection(ZooKeeperClient client, String path, LockOptions options) {
        LockOptions standby = Objects.requireNonNull(options, "options").withStandby();
        this.engine = new LockInternals(client, path, new MutexDriver(NODE_NAME), standby);
        this.lock = engine.unowned();
        this.calls = engine.callbacksInOrder();
        gone.deletion.complete(CompletableFuture.completedFuture(null));
    }

    /**
     * Tells the listener of each term that begins from now on. Add it before {@link #join} to miss none.
     *
     * @param listener what to call
     */
    public void addListener(LeaderListener listener) {
        listeners.add(Objects.requireNonNull(listener, "listener"));
    }

    /** Stands for the leadership, now and after each term, until {@link #leave}. Returns at once. */
    public void join() {
        guarded(() -> {
            refusal = null;
            isCandidate = true;
            return true;
        });
        look();
    }

    /**
     * Stands no more: leaves the queue, or gives the leadership back. Returns at once.
     *
     * @return as {@link #resign}
     */
    public CompletableFuture<Void> leave() {
        return stop(null).done();
    }

    /** For a reason: a candidate is withdrawn, and those that wait hear why. Returns as {@link #endLast}. */
    @CanIgnoreReturnValue
    private Term.Release stop(@Nullable ClientClosedException why) {
        CompletableFuture<?> asked;
        boolean stood;
        synchronized (guard) {
            asked = request;
            stood = isCandidate;
            request = null;
            refusal = stood || why == null ? why : refusal;
            isCandidate = false;
        }
        if (asked != null) {
            asked.cancel(false);
        }
        Term.Release ended = endLast();
        if (why == null) {
            settle(waiter -> waiter.complete(Optional.empty()));
        } else if (stood) {
            tellWithdrawn(why);
        }
        return ended;
    }

    /**
     * Leaves, as {@link #leave} does, and waits for the end of the term, if there is one: until the listeners' calls of
     * {@link LeaderListener#termEnded} have returned, the work has ended and the node is deleted. So whatever is closed
     * after that, the next leader begins when this one has stopped. {@link ZooKeeperClient#close()} ends terms in the
     * same way before anything else, and stands for no other.
     *
     * <p>Waits for listeners and work at most for the client's {@linkplain
     * dev.zkrecipes.core.ZooKeeperClientBuilder#closeTimeout close time-out}. What still works then is named in a
     * warning; the node stays until it has ended, or until the client is closed. For the deletion it waits as
     * {@link Lease#close} does. Interrupts do not end the wait, and the thread's flag is kept. It does not wait when it
     * is called by a listener or by the work of this election, which would wait for themselves, or on ZooKeeper's event
     * thread. Further calls, by any thread, wait for the same end. Never throws.
     */
    @Override
    public void close() {
        Term.Release ended = stop(null);
        Term ending = term;
        if (!isOwnThread() && !engine.awaitClosed(ended.deletion)) {
            log.warn(
                    "The election {} is closed, but {} has not ended in time. The leadership stays here until it has;"
                            + " if the client is closed before that, the next leader begins beside it. Let it end sooner"
                            + " (work is interrupted), or raise closeTimeout of the client.",
                    lock.path(),
                    whatWorks(ending));
        }
    }

    /**
     * As {@link #close}, without waiting; {@link #leave} by another name.
     *
     * @return as {@link #resign}
     */
    public CompletableFuture<Void> closeAsync() {
        return leave();
    }

    /** Whether the caller is a listener or the work, or was called by them: it would wait for itself. */
    private boolean isOwnThread() {
        Term current = term;
        Thread caller = Thread.currentThread();
        return caller == telling || (current != null && current.isWorkOf(caller));
    }

    private String whatWorks(@Nullable Term ending) {
        Thread listener = telling;
        if (listener != null) {
            return "a listener on the thread " + listener.getName();
        }
        return ending != null && ending.isAtWork() ? "its work" : "the executor of its listeners";
    }

    /**
     * Gives the leadership back and stands again, behind those that wait. Does nothing to a candidate that does not
     * lead. Returns at once. Half a round trip after the node is deleted, the next candidate leads.
     *
     * @return completes when the last term, if there was one, is told, its work done and its node gone; exceptionally
     *     with {@link dev.zkrecipes.core.LockAccessException} if ZooKeeper refuses to delete the node
     */
    public CompletableFuture<Void> resign() {
        return endLast().done();
    }

    /** Ends the term, if there is one. Returns its release, or that of the last term; never of one that begins now. */
    private Term.Release endLast() {
        Term.Release last = gone; // read before the term: without one then, this is of a term that is over
        Term current = term;
        if (current == null) {
            return last;
        }
        end(current);
        return current.gone;
    }

    /** {@return whether this leads: it has a term that is {@linkplain Term#isValid valid} now, by the local clock} */
    public boolean isLeader() {
        Term current = term;
        return current != null && current.isValid();
    }

    /** {@return the term in which this leads, which may be SUSPENDED; empty if there is none or it is over} */
    public Optional<Term> term() {
        return Optional.ofNullable(term).filter(current -> !current.isOver());
    }

    /**
     * {@return who leads, as {@link #participants} shows it; empty if nobody stands}
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public Optional<Participant> leader() throws InterruptedException {
        return participants().stream().filter(Participant::holding).findFirst();
    }

    /**
     * {@return the candidates, as {@link InterProcessLock#participants} tells; of Curator's latches, the owner is the
     * id}
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public List<Participant> participants() throws InterruptedException {
        return lock.participants();
    }

    /**
     * Waits until this process leads and its listeners know; call {@link #join} first.
     *
     * @param timeout how long to wait at most; zero only looks
     * @return the term; empty if the time is over, or somebody has called {@link #leave}
     * @throws IllegalStateException if this is no candidate, or called on ZooKeeper's event thread
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     * @throws LockException if the request is refused or the client closed; then this is a candidate no more
     */
    public Optional<Term> awaitLeadership(Duration timeout) throws InterruptedException {
        if (Objects.requireNonNull(timeout, "timeout").isNegative()) {
            throw new IllegalArgumentException("negative time-out " + timeout);
        }
        if (guarded(() -> !isCandidate && refusal == null)) {
            throw new IllegalStateException("no candidate for " + lock.path() + ": call join() first");
        }
        return await(timeout);
    }

    private Optional<Term> await(Duration atMost) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        CompletableFuture<Optional<Term>> answer = new CompletableFuture<>();
        guarded(() -> {
            Optional<Term> current = term().filter(known -> known == announced);
            if (current.isPresent() || (!isCandidate && refusal == null)) {
                return answer.complete(current);
            }
            return isCandidate ? waiting.add(answer) : answer.completeExceptionally(Objects.requireNonNull(refusal));
        });
        try {
            return engine.await(answer, atMost).flatMap(Function.identity());
        } finally {
            guarded(() -> waiting.removeIf(waiter -> waiter == answer));
        }
    }

    /**
     * Joins, and lets {@code work} lead in each term until it fails, the calling thread is interrupted, or somebody
     * calls {@link #leave}; then {@linkplain #close closes}. When {@code work} returns, it resigns and stands again.
     * Each term has a thread of its own, which the caller makes and waits for, however long that takes, and which is
     * interrupted when the term ends. What the work throws after that is only logged. The next term begins when the
     * work has ended, so let it heed interrupts.
     *
     * @param <E> what the work throws
     * @param work what only the leader does
     * @throws InterruptedException if the calling thread is interrupted, when the work has ended; or from the work
     * @throws E from the work, while it led
     * @throws LockException if the request is refused or the client closed
     * @throws IllegalStateException if this runs already, or called on ZooKeeper's event thread
     */
    public <E extends Exception> void run(LeaderWork<E> work) throws InterruptedException, E {
        lead(work, true);
    }

    /**
     * As {@link #run}, for one term.
     *
     * @param <E> what the work throws
     * @param work what only the leader does
     * @return whether the work returned while it led; false if the term ended before, or there was none
     * @throws InterruptedException as {@link #run}
     * @throws E as {@link #run}
     */
    public <E extends Exception> boolean runOnce(LeaderWork<E> work) throws InterruptedException, E {
        return lead(work, false);
    }

    private <E extends Exception> boolean lead(LeaderWork<E> work, boolean again) throws InterruptedException, E {
        Objects.requireNonNull(work, "work");
        if (!running.compareAndSet(false, true)) {
            throw new IllegalStateException("the election " + lock.path() + " runs work already");
        }
        try {
            join();
            Optional<Term> next = await(FOR_EVER);
            boolean isDone = false;
            while (next.isPresent()) {
                isDone = perform(work, next.get());
                next = again ? await(FOR_EVER) : Optional.empty();
            }
            return isDone;
        } finally {
            close();
            running.set(false);
        }
    }

    /** Whether the work returned while it led. */
    @SuppressWarnings("unchecked") // the work throws nothing else
    private <E extends Exception> boolean perform(LeaderWork<E> work, Term current) throws InterruptedException, E {
        Throwable failure;
        try {
            current.employ(work);
            failure = engine.await(current.workDone(), FOR_EVER).orElseThrow().orElse(null);
        } catch (InterruptedException e) {
            end(current);
            engine.awaitUninterruptibly(current.workDone()).ifPresent(e::addSuppressed);
            throw e;
        }
        boolean isInTime = end(current) && current.state() == LeaseState.RELEASED;
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure != null && isInTime) {
            throw (E) failure;
        }
        if (failure != null && !(failure instanceof InterruptedException || failure instanceof LockLostException)) {
            log.warn("The work for {} failed after its term. If that is not why, fix it.", lock.path(), failure);
        }
        return isInTime;
    }

    private <T extends @Nullable Object> T guarded(Supplier<T> change) {
        synchronized (guard) {
            return change.get();
        }
    }

    /** Answers all that wait. */
    private void settle(Consumer<CompletableFuture<Optional<Term>>> answer) {
        List<CompletableFuture<Optional<Term>>> told = guarded(() -> {
            List<CompletableFuture<Optional<Term>>> all = List.copyOf(waiting);
            waiting.clear();
            return all;
        });
        told.forEach(answer);
    }

    /** Asks, if a candidate has neither a term nor a request under way. */
    private void look() {
        CompletableFuture<?> asked = new CompletableFuture<>();
        if (!guarded(() -> {
            boolean asks = isCandidate && request == null && term == null;
            request = asks ? asked : request;
            return asks;
        })) {
            return;
        }
        CompletableFuture<Lease> answer;
        try {
            answer = lock.acquireAsync();
        } catch (RuntimeException | Error e) {
            refuse(asked, e);
            return;
        }
        var unused = answer.whenComplete((lease, failure) -> {
            if (lease != null) {
                begin(asked, lease);
            } else {
                refuse(asked, Objects.requireNonNull(failure));
            }
        });
        var ignored = asked.whenComplete((none, withdrawn) -> answer.cancel(false));
    }

    /** Whether this was the request under way. Then there is none, but a term, or a refusal, or neither. */
    private boolean answer(CompletableFuture<?> asked, @Nullable Term begun, @Nullable LockException why) {
        return guarded(() -> {
            boolean isWanted = request == asked;
            if (isWanted) {
                request = null;
                term = begun;
                gone = begun == null ? gone : begun.gone;
                refusal = why;
                isCandidate = why == null;
            }
            return isWanted;
        });
    }

    private void begin(CompletableFuture<?> asked, Lease lease) {
        Term next = Term.of(lease, engine);
        if (!answer(asked, next, null) || next == null) {
            var unused = lease.closeAsync();
            look();
            return;
        }
        try {
            Runnable isOver = engine.endBeforeClient(this::endBeforeClient);
            var unused = next.gone.deletion.thenRun(isOver);
        } catch (ClientClosedException e) { // just now: it has not begun
            stop(e);
            return;
        }
        calls.execute(() -> tellBegin(next));
        lease.onLost(() -> end(next));
    }

    private void refuse(CompletableFuture<?> asked, Throwable failure) {
        LockException why = failure instanceof LockException known
                ? known
                : new LockException("the request for " + lock.path() + " failed", failure);
        if (answer(asked, null, why)) {
            if (!(why instanceof ClientClosedException)) {
                String beside = why instanceof IncompatibleNodeException ? BESIDE_A_SELECTOR : "";
                log.warn(
                        "No candidate for {} until join() is called again: {}{}",
                        lock.path(),
                        why.getMessage(),
                        beside);
            }
            tellWithdrawn(why);
        }
    }

    private void tellWithdrawn(LockException why) {
        calls.execute(() -> listeners.forEach(listener -> call(() -> listener.withdrawn(why))));
        settle(waiter -> waiter.completeExceptionally(why));
    }

    /** The client is being closed by this thread. */
    private CompletableFuture<Void> endBeforeClient() {
        Term.Release ended = stop(new ClientClosedException("the ZooKeeperClient of the election " + lock.path()
                + " is closed; make a new client and an election on it"));
        return isOwnThread() ? CompletableFuture.completedFuture(null) : ended.deletion.thenAccept(begun -> {});
    }

    /** Ends the term, unless it has ended; returns whether this call did. */
    private boolean end(Term ending) {
        boolean ends = ending.end();
        if (ends) {
            orEndTheClient(() -> calls.execute(() -> orEndTheClient(() -> tellEnd(ending))));
            ending.ended.complete(ending.state());
        }
        return ends;
    }

    /** A step of an end that nobody else would take: without it the node of a leader who has stopped stays. */
    private void orEndTheClient(Runnable step) {
        try {
            step.run();
        } catch (Throwable t) {
            engine.endClientBecauseOf(t);
            throw t;
        }
    }

    /** Listeners first, then those that wait, unless it is over by then. */
    private void tellBegin(Term begun) {
        if (!begun.isOver()) {
            begun.told = List.copyOf(listeners);
            begun.told.forEach(listener -> call(() -> listener.termBegan(begun)));
            guarded(() -> announced = begun);
            if (!begun.isOver()) {
                settle(waiter -> waiter.complete(Optional.of(begun)));
            }
        }
    }

    private void tellEnd(Term ending) {
        ending.told.forEach(listener -> call(() -> listener.termEnded(ending)));
        var unused = ending.workDone().whenComplete((done, failure) -> orEndTheClient(() -> giveBack(ending)));
    }

    private void giveBack(Term over) {
        over.gone.deletion.complete(over.lease.closeAsync());
        guarded(() -> announced = term = null);
        look();
    }

    private void call(Runnable listener) {
        telling = Thread.currentThread();
        try {
            listener.run();
        } catch (Throwable t) {
            log.warn("A listener of the election {} failed; the election is not affected. Fix it.", lock.path(), t);
        } finally {
            telling = null;
        }
    }

    @Override
    public String toString() {
        Term current = term;
        String standing = guarded(() -> isCandidate) ? "candidate" : "left";
        String leading = current == null ? "" : (current.isOver() ? ", ending " : ", leading ") + current;
        return "LeaderElection[" + lock.path() + ", " + standing + leading + "]";
    }
}
