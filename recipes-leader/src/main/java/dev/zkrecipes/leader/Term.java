// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.leader;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.spi.LockInternals;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/**
 * A period in which this process leads: one lease of the election's path, from its grant to its loss or release. It
 * promises what a {@link Lease} promises: {@link #isValid()} tells what is known when it is called, and cannot foresee
 * a pause between the call and what you do next. Where a late write would do harm, let the store refuse it: pass it
 * {@link #number()}, or put {@link #guard()} into the {@code multi} that writes. Instances are thread-safe.
 */
public final class Term {
    private static final Duration LOOK_AGAIN = Duration.ofMillis(20);

    final Lease lease;
    final CompletableFuture<LeaseState> ended = new CompletableFuture<>();
    private final CompletionStage<LeaseState> endedForAll = ended.minimalCompletionStage();
    final Release gone = new Release();
    List<LeaderListener> told = List.of(); // the listeners told of the beginning; used by one call at a time

    /** Whether the candidate does not stand again after this term, unless it joins again: its run is about to end. */
    volatile boolean isLast;

    private final LockInternals engine;
    private final long number;
    // Its first completion decides how the term ended. No action depends on it.
    private final CompletableFuture<LeaseState> over = new CompletableFuture<>();
    private final CompletableFuture<Optional<Throwable>> done = new CompletableFuture<>(); // what the work threw
    private volatile @Nullable Thread worker;

    /**
     * The deletion of the term's node. It begins when the listeners have been told of the term's end and the work has
     * ended.
     */
    static final class Release {
        final CompletableFuture<CompletableFuture<Void>> deletion = new CompletableFuture<>();

        /**
         * Returns a future that completes when the node has been deleted. Code of the application depends on it, and
         * may block, so it runs on {@code callbacks} and not in the middle of the end of the term.
         */
        CompletableFuture<Void> done(Executor callbacks) {
            return deletion.thenComposeAsync(Function.identity(), deletion.isDone() ? Runnable::run : callbacks);
        }
    }

    private Term(Lease lease, LockInternals engine) {
        this.lease = lease;
        this.engine = engine;
        this.number = lease.fencingToken();
    }

    /** Returns the term of a lease, or null if the lease is lost already. */
    static @Nullable Term of(Lease lease, LockInternals engine) {
        try {
            return new Term(lease, engine);
        } catch (LockLostException e) {
            return null;
        }
    }

    /** {@return the {@linkplain Lease#fencingToken fencing token}: greater than in every earlier term} */
    public long number() {
        return number;
    }

    /**
     * Returns an operation for your own {@code multi} on the same ensemble and chroot. The {@code multi} is applied
     * only if the leader's node exists at that moment. After a resignation the node still exists until the listeners
     * have been told and the work has ended.
     *
     * @return a check of the node
     * @throws LockLostException if the term is lost
     * @throws IllegalMonitorStateException if the leadership was given back
     */
    public Op guard() {
        return lease.guard();
    }

    /**
     * Asks ZooKeeper whether the leader's node still exists; see {@link Lease#verify}.
     *
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     */
    public void verify() throws InterruptedException {
        lease.verify();
    }

    /** {@return HELD; SUSPENDED while that is not proven; finally LOST or, from a resignation on, RELEASED} */
    public LeaseState state() {
        LeaseState end = over.getNow(LeaseState.HELD);
        return end == LeaseState.HELD ? lease.state() : end;
    }

    /** {@return whether this process leads: the state is HELD, by the local clock, without asking a server} */
    public boolean isValid() {
        return state() == LeaseState.HELD;
    }

    /**
     * Waits while the term is SUSPENDED, for example while the connection moves to another server. Sends no request:
     * the client itself checks the lease as soon as it is connected. Do one step of the leader's work after each
     * {@code true}:
     *
     * <pre>{@code
     * while (term.awaitValid(Duration.ofSeconds(30))) {
     *     billing.next(term.number());
     * }
     * }</pre>
     *
     * @param timeout how long to wait; a suspended term is lost anyway when the session time-out has passed
     * @return whether the term is {@linkplain #isValid valid}; false if it has ended, or the time has elapsed
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws InterruptedException if the thread is interrupted on entry or while it waits; the end of the term
     *     interrupts the thread that {@link LeaderElection#run} uses for the work
     * @throws IllegalStateException if called on ZooKeeper's event thread
     */
    public boolean awaitValid(Duration timeout) throws InterruptedException {
        if (Objects.requireNonNull(timeout, "timeout").isNegative()) {
            throw new IllegalArgumentException("negative time-out " + timeout);
        }
        long begun = engine.nanoTime();
        CompletableFuture<Void> never = new CompletableFuture<>();
        Duration pause = Duration.ZERO; // the first call only throws, if the thread is interrupted or must not wait
        LeaseState seen;
        do {
            var unused = engine.await(never, pause);
            Duration left = timeout.minusNanos(engine.nanoTime() - begun);
            pause = left.compareTo(LOOK_AGAIN) < 0 ? left : LOOK_AGAIN;
            seen = state();
        } while (seen == LeaseState.SUSPENDED && !pause.isNegative() && !pause.isZero());
        return seen == LeaseState.HELD; // what was seen, since the connection may be lost again by now
    }

    /**
     * Adds a listener that is notified of each request to give the leadership back, as by
     * {@link Lease#onRevocationRequested}, but no longer once the term has ended. A request by itself changes nothing:
     * the listener may call {@link LeaderElection#resign} or not. A request with a grace period ends the term when that
     * period has elapsed.
     *
     * @param listener what to call, on the client's callback executor
     */
    public void onRevocationRequested(Consumer<RevocationRequest> listener) {
        Objects.requireNonNull(listener, "listener");
        lease.onRevocationRequested(request -> {
            if (!isOver()) {
                listener.accept(request);
            }
        });
    }

    /**
     * Returns a stage that completes with LOST or RELEASED when the term ends, without waiting for listeners. Dependent
     * actions run on the thread that ends the term: a thread that the client keeps for losses, or the thread that
     * resigns.
     *
     * @return the stage, which no caller can complete
     */
    public CompletionStage<LeaseState> ended() {
        return endedForAll; // a new stage for each call would stay in memory as long as the term
    }

    boolean isOver() {
        return over.isDone();
    }

    /**
     * Makes the term invalid and interrupts its work, once. Whoever ends it, the term is LOST if its lease is lost.
     * Returns whether this call ended the term.
     */
    boolean end() {
        boolean ends = over.complete(lease.state() == LeaseState.LOST ? LeaseState.LOST : LeaseState.RELEASED);
        Thread working = worker;
        if (ends && working != null) {
            working.interrupt();
        }
        return ends;
    }

    /** Starts a thread for the work, unless the term has ended. A later {@link #end} interrupts this thread. */
    void employ(LeaderWork<?> work) {
        Thread thread = new Thread(() -> done.complete(perform(work)), "zkrecipes-leader " + lease.path());
        worker = thread;
        if (isOver()) {
            done.complete(Optional.empty());
            return;
        }
        try {
            thread.start();
        } catch (Throwable t) { // no memory for a thread
            done.complete(Optional.empty());
            throw t;
        }
    }

    private Optional<Throwable> perform(LeaderWork<?> work) {
        try {
            if (isOver()) {
                Thread.currentThread().interrupt(); // end() may have interrupted it before it had started
            }
            work.lead(this);
            return Optional.empty();
        } catch (Throwable t) {
            if (t instanceof Error) {
                isLast = true; // it is thrown to the caller even if the term has ended
            }
            return Optional.of(t);
        }
    }

    /**
     * Returns a future that completes with what the work threw, once the work has ended. It is complete if there is no
     * work.
     */
    CompletableFuture<Optional<Throwable>> workDone() {
        return worker == null ? CompletableFuture.completedFuture(Optional.empty()) : done;
    }

    boolean isWorkOf(Thread thread) {
        return worker == thread;
    }

    boolean isAtWork() {
        return !workDone().isDone();
    }

    @Override
    public String toString() {
        return "Term[" + lease.path() + ", number " + number + ", " + state() + "]";
    }
}
