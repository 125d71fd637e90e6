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
 * A candidate for the leadership of a path. Of all candidates that stand for a path, one leads at a time.
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
 * <p><b>Order.</b> Candidates lead in the order in which ZooKeeper received their requests. After each term a candidate
 * queues again, at the end, until it leaves. <b>Session loss:</b> the term is lost, and another candidate may lead; a
 * waiting candidate queues again. <b>Ownership:</b> the leadership belongs to this object. <b>Promise:</b> in
 * ZooKeeper's order of events, one candidate holds the path at a time. {@link #isLeader} is true only while this
 * candidate is proven to be the one, by the local clock. See {@link Term}.
 *
 * <pre>
 *            join                   granted              resign, leave, lost
 *   left ----------&gt; candidate ---------------&gt; leading ---------------------&gt; ending
 *    ^                 |    ^      told, work done, given back: stands again      |  |
 *    +--leave, refused-+    +-----------------------------------------------------+  |
 *    +------- told, work done, given back: has left meanwhile -----------------------+
 * </pre>
 *
 * <p>A term is one lease. When it ends, {@link #isLeader} becomes false, its work is interrupted and the listeners are
 * notified. Once they have returned and the work has ended, the node is deleted. Only then is the next request sent, so
 * no candidate has two terms at once, and a candidate that resigns has stopped before another one leads. Any thread may
 * call any method at any time; the first event that ends a term determines how it ended. A grant that arrives after
 * {@code leave} is given back; {@code resign} before a grant does nothing; {@code join} while a term is ending stands
 * for the next term. A candidate whose request is refused or whose client is closed has left.
 *
 * <p><b>End:</b> {@link #close} waits until the leader has stopped and its node is deleted. So do {@link #run},
 * {@link #runOnce} and {@link ZooKeeperClient#close}, whichever of them is closed first.
 *
 * <p>Its nodes are named and ordered like those of Apache Curator's {@code LeaderLatch}, so both kinds of candidates
 * stand in one queue. Curator's {@code LeaderSelector}, however, ignores these nodes and leads at the same time as a
 * leader of this kind: do not mix the two on a path. Instances are thread-safe.
 */
public final class LeaderElection implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(LeaderElection.class);
    private static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE);

    /** The node name of Curator's {@code LeaderLatch}, so that both kinds of candidates stand in one queue. */
    private static final String NODE_NAME = "latch-";

    private static final String BESIDE_A_SELECTOR =
            ". If that is a node of Curator's LeaderSelector (lock-), it leads beside a leader of this kind";

    private final LockInternals engine;
    private final InterProcessLock lock;
    private final Executor calls;
    private final AtomicBoolean running = new AtomicBoolean();
    private final List<LeaderListener> listeners = new CopyOnWriteArrayList<>();
    // The guard protects this small state. No foreign code is called while it is held: each event first changes the
    // state, then acts on it. It is a monitor, because a ReentrantLock may stay locked after a StackOverflowError.
    private final Object guard = new Object();
    private final List<CompletableFuture<Optional<Term>>> waiting = new ArrayList<>();
    private boolean isCandidate;
    private @Nullable LockException refusal; // why this is no longer a candidate
    private @Nullable CompletableFuture<?> request; // the pending request; never completed, only cancelled
    private volatile @Nullable Term term; // leading, or ending
    private volatile Term.Release gone = new Term.Release(); // the release of the latest term
    private @Nullable Term announced; // the term whose beginning the listeners have been told
    private volatile @Nullable Thread telling; // the thread that is calling a listener

    /**
     * Creates a candidate with the default settings. It does not stand until {@link #join}.
     *
     * @param client the client to use
     * @param path absolute path of the election, below the client's chroot; created on first use
     */
    public LeaderElection(ZooKeeperClient client, String path) {
        this(client, path, LockOptions.defaults());
    }

    /**
     * Creates a candidate. It does not stand until {@link #join}.
     *
     * @param client the client to use
     * @param path absolute path of the election, below the client's chroot; created on first use
     * @param options optional settings: a term is lost after the time set by {@link LockOptions#withHoldAtMost}; with
     *     the policy FAIL, a waiting candidate that loses its place is {@linkplain LeaderListener#withdrawn withdrawn}
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
     * Adds a listener, which is notified of each term that begins from now on. Add it before {@link #join} to miss
     * none.
     *
     * @param listener what to call
     */
    public void addListener(LeaderListener listener) {
        listeners.add(Objects.requireNonNull(listener, "listener"));
    }

    /**
     * Stands for the leadership, now and after each term, until {@link #leave}. Returns at once. Does nothing once this
     * was withdrawn because the client is closed.
     */
    public void join() {
        guarded(() -> {
            if (!(refusal instanceof ClientClosedException)) { // a closed client would refuse it again, without end
                refusal = null;
                isCandidate = true;
                if (term != null) {
                    term.isLast = false;
                }
            }
            return true;
        });
        look();
    }

    /**
     * Stops standing for the leadership: leaves the queue, or gives the leadership back. Returns at once.
     *
     * @return the same as {@link #resign}
     */
    public CompletableFuture<Void> leave() {
        return stop(null).done(engine.callbacksInOrder());
    }

    /**
     * Leaves. If a reason is given, a candidate is withdrawn: its listeners and waiting threads are told the reason.
     * Returns the same release as {@link #endLast}.
     */
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
     * Leaves, as {@link #leave} does. If there is a term, waits until all calls of {@link LeaderListener#termEnded}
     * have returned, the work has ended and the node is deleted. So the next leader begins only after this one has
     * stopped, whatever is closed afterwards. {@link ZooKeeperClient#close()} first ends terms in the same way, and its
     * elections stand for no further term.
     *
     * <p>Waits for listeners and work at most for the client's
     * {@linkplain dev.zkrecipes.core.ZooKeeperClientBuilder#closeTimeout close time-out}. If they have not ended by
     * then, logs a warning that names them; the node stays until they have ended, or until the client is closed. Waits
     * for the deletion as {@link Lease#close} does. An interrupt does not end the wait; the thread's interrupt status
     * is preserved. Does not wait if called by a listener or the work of this election, because they would wait for
     * themselves, or on ZooKeeper's event thread. Further calls from any thread wait for the same end. Never throws.
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
     * Leaves without waiting; the same as {@link #leave}.
     *
     * @return the same as {@link #resign}
     */
    public CompletableFuture<Void> closeAsync() {
        return leave();
    }

    /**
     * Whether a listener or the work is running on the calling thread: if it waited for them, it would wait for itself.
     */
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
     * Gives the leadership back and stands again, behind the waiting candidates. Does nothing if this candidate does
     * not lead. Returns at once. The next candidate leads half a round trip after the node is deleted.
     *
     * @return a future that completes when the end of the latest term, if there was one, has been told to the
     *     listeners, its work has ended and its node is deleted; it completes exceptionally with
     *     {@link dev.zkrecipes.core.LockAccessException} if ZooKeeper refuses to delete the node
     */
    public CompletableFuture<Void> resign() {
        return endLast().done(engine.callbacksInOrder());
    }

    /**
     * Ends the current term, if there is one, and returns its release. Otherwise returns the release of the latest
     * term; never that of a term that begins during the call.
     */
    private Term.Release endLast() {
        Term.Release last = gone; // read before the term: if there is no term then, this belongs to an ended one
        Term current = term;
        if (current == null) {
            return last;
        }
        end(current);
        return current.gone;
    }

    /**
     * {@return whether this candidate leads: it has a term that is {@linkplain Term#isValid valid} now, by the local
     * clock}
     */
    public boolean isLeader() {
        Term current = term;
        return current != null && current.isValid();
    }

    /** {@return the current term, which may be SUSPENDED; empty if there is none or it has ended} */
    public Optional<Term> term() {
        return Optional.ofNullable(term).filter(current -> !current.isOver());
    }

    /**
     * {@return why this no longer stands, as {@link LeaderListener#withdrawn} was told; empty if it stands, or has left
     * by itself, or has never stood}
     */
    public Optional<LockException> withdrawal() {
        return guarded(() -> Optional.ofNullable(refusal));
    }

    /**
     * {@return the leader, as shown by {@link #participants}; empty if nobody leads}
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public Optional<Participant> leader() throws InterruptedException {
        return participants().stream().filter(Participant::holding).findFirst();
    }

    /**
     * {@return the candidates, as returned by {@link InterProcessLock#participants}; the owner of a Curator latch is
     * its id}
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public List<Participant> participants() throws InterruptedException {
        return lock.participants();
    }

    /**
     * Waits until this process leads and its listeners have been told; call {@link #join} first.
     *
     * @param timeout how long to wait at most; zero to check without waiting
     * @return the term; empty if the time has elapsed, or {@link #leave} was called
     * @throws IllegalStateException if this is not a candidate, or if called on ZooKeeper's event thread
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     * @throws LockException if the request is refused or the client closed; this is then no longer a candidate
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
     * Joins, and runs {@code work} in each term until it fails, the calling thread is interrupted, or {@link #leave} is
     * called; then {@linkplain #close closes}. When {@code work} returns, this candidate resigns and stands again. The
     * work of each term runs on its own thread, which is interrupted when the term ends. The calling thread creates
     * that thread and waits for it, however long it takes. An exception that the work throws after the end of its term
     * does not reach the caller; an unexpected one is logged. An {@link Error} is rethrown. The next term cannot begin
     * before the work has ended, so the work should respond to interrupts.
     *
     * @param <E> what the work throws
     * @param work what only the leader does
     * @throws InterruptedException if the calling thread is interrupted, thrown once the work has ended; or if the work
     *     throws it while it leads
     * @throws E if the work throws it while it leads
     * @throws LockException if the request is refused or the client closed
     * @throws IllegalStateException if this election is running work already, or if called on ZooKeeper's event thread
     */
    public <E extends Exception> void run(LeaderWork<E> work) throws InterruptedException, E {
        lead(work, true);
    }

    /**
     * Like {@link #run}, for one term only.
     *
     * @param <E> what the work throws
     * @param work what only the leader does
     * @return whether the work returned while it led; false if the term ended earlier, or there was no term
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
                next.get().isLast = !again;
                isDone = perform(work, next.get());
                next = again ? await(FOR_EVER) : Optional.empty();
            }
            return isDone;
        } finally {
            close();
            running.set(false);
        }
    }

    /** Runs the work on a thread of its own, ends the term and returns whether the work returned while it led. */
    @SuppressWarnings("unchecked") // the work throws nothing else
    private <E extends Exception> boolean perform(LeaderWork<E> work, Term current) throws InterruptedException, E {
        Throwable failure;
        try {
            current.employ(work);
            failure = engine.await(current.workDone(), FOR_EVER).orElseThrow().orElse(null);
        } catch (InterruptedException e) {
            current.isLast = true;
            end(current);
            engine.awaitUninterruptibly(current.workDone()).ifPresent(e::addSuppressed);
            throw e;
        }
        boolean isInTime = end(current, failure != null) && current.state() == LeaseState.RELEASED;
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

    /** Removes all waiting futures and applies the answer to each. */
    private void settle(Consumer<CompletableFuture<Optional<Term>>> answer) {
        List<CompletableFuture<Optional<Term>>> told = guarded(() -> {
            List<CompletableFuture<Optional<Term>>> all = List.copyOf(waiting);
            waiting.clear();
            return all;
        });
        told.forEach(answer);
    }

    /** Sends a request if this is a candidate with neither a term nor a pending request. */
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

    /**
     * Records the outcome of the pending request: a term, a refusal, or neither. Returns false, and changes nothing, if
     * the given request is not the pending one.
     */
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
        } catch (ClientClosedException e) { // closed a moment ago, before the term was told
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

    /** Ends the election before its client ends. Called on a thread that is closing the client. */
    private CompletableFuture<Void> endBeforeClient() {
        Term.Release ended = stop(new ClientClosedException("the ZooKeeperClient of the election " + lock.path()
                + " is closed; make a new client and an election on it"));
        return isOwnThread() ? CompletableFuture.completedFuture(null) : ended.deletion.thenAccept(begun -> {});
    }

    @CanIgnoreReturnValue
    private boolean end(Term ending) {
        return end(ending, false);
    }

    /**
     * Ends the term, unless it has ended already. Returns whether this call ended it. If the work {@code failed} in
     * time, which only this call can tell, the term is the last one.
     */
    private boolean end(Term ending, boolean failed) {
        boolean ends = ending.end();
        if (ends) {
            if (failed && ending.state() == LeaseState.RELEASED) {
                ending.isLast = true;
            }
            orEndTheClient(() -> calls.execute(() -> orEndTheClient(() -> tellEnd(ending))));
            ending.ended.complete(ending.state());
        }
        return ends;
    }

    /**
     * Runs one step of ending a term, and ends the client if the step throws. Nobody else would run the step, and
     * without it the node of a leader that has stopped would stay.
     */
    private void orEndTheClient(Runnable step) {
        try {
            step.run();
        } catch (Throwable t) {
            engine.endClientBecauseOf(t);
            throw t;
        }
    }

    /** Tells the listeners that the term began, then the waiting threads. Tells nobody once the term has ended. */
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
        guarded(() -> isCandidate &= !over.isLast); // first: who is told of the end may join again
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
