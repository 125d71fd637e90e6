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
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/**
 * The time in which this process leads: one lease of the election's path, from the grant to its loss or release.
 * It promises what a {@link Lease} does: {@link #isValid()} tells what is known when it is called, and cannot see a
 * pause between the call and what you do next. Where a late write would do harm, let the store refuse it: pass it
 * {@link #number()}, or put {@link #guard()} into the {@code multi} that writes. Instances are thread-safe.
 */
public final class Term {
    private static final Duration LOOK_AGAIN = Duration.ofMillis(20);

    final Lease lease;
    final CompletableFuture<LeaseState> ended = new CompletableFuture<>();
    final Release gone = new Release();
    List<LeaderListener> told = List.of(); // of the beginning; used by one call at a time

    private final LockInternals engine;
    private final long number;
    private final CompletableFuture<LeaseState> over = new CompletableFuture<>(); // decides; nothing depends on it
    private final CompletableFuture<Optional<Throwable>> done = new CompletableFuture<>(); // how its work ended
    private volatile @Nullable Thread worker;

    /** Its end on the server, which begins when listeners know of the term's end and the work has ended. */
    static final class Release {
        final CompletableFuture<CompletableFuture<Void>> deletion = new CompletableFuture<>();

        /** When the node is gone. */
        CompletableFuture<Void> done() {
            return deletion.thenCompose(Function.identity());
        }
    }

    private Term(Lease lease, LockInternals engine) {
        this.lease = lease;
        this.engine = engine;
        this.number = lease.fencingToken();
    }

    /** Null if the lease is lost already. */
    static @Nullable Term of(Lease lease, LockInternals engine) {
        try {
            return new Term(lease, engine);
        } catch (LockLostException e) {
            return null;
        }
    }

    /** {@return the {@linkplain Lease#fencingToken fencing token}: greater than that of each earlier term} */
    public long number() {
        return number;
    }

    /**
     * An operation for your own {@code multi} on the same ensemble and chroot, which is applied only if the leader's
     * node is there at that moment: also after a resignation, until listeners are told and the work is done.
     *
     * @return a check of the node
     * @throws LockLostException if the term is lost
     * @throws IllegalMonitorStateException if the leadership was given back
     */
    public Op guard() {
        return lease.guard();
    }

    /**
     * Asks ZooKeeper whether the leader's node is there: see {@link Lease#verify}.
     *
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     */
    public void verify() throws InterruptedException {
        lease.verify();
    }

    /** {@return HELD; SUSPENDED while that is not proven; for good LOST or, from a resignation on, RELEASED} */
    public LeaseState state() {
        LeaseState end = over.getNow(LeaseState.HELD);
        return end == LeaseState.HELD ? lease.state() : end;
    }

    /** {@return whether this process leads: the state is HELD, by the local clock, without asking a server} */
    public boolean isValid() {
        return state() == LeaseState.HELD;
    }

    /**
     * Waits while the term is SUSPENDED, as it is while the connection moves to another server. Asks no server: the
     * client itself does, as soon as it is connected. A step of the leader's work may follow each {@code true}:
     *
     * <pre>{@code
     * while (term.awaitValid(Duration.ofSeconds(30))) {
     *     billing.next(term.number());
     * }
     * }</pre>
     *
     * @param timeout how long to wait; a suspended term is lost anyway when the session time-out has passed
     * @return whether the term is {@linkplain #isValid valid}; false if it has ended, or the time is over
     * @throws IllegalArgumentException if {@code timeout} is negative
     * @throws InterruptedException if the thread is interrupted on entry or while it waits, as the end of the term does
     *     to the thread of {@link LeaderElection#run}
     * @throws IllegalStateException if called on ZooKeeper's event thread
     */
    public boolean awaitValid(Duration timeout) throws InterruptedException {
        if (Objects.requireNonNull(timeout, "timeout").isNegative()) {
            throw new IllegalArgumentException("negative time-out " + timeout);
        }
        long begun = engine.nanoTime();
        CompletableFuture<Void> never = new CompletableFuture<>();
        Duration pause = Duration.ZERO; // at first it only throws, on a thread that may not wait
        do {
            var unused = engine.await(never, pause);
            Duration left = timeout.minusNanos(engine.nanoTime() - begun);
            pause = left.compareTo(LOOK_AGAIN) < 0 ? left : LOOK_AGAIN;
        } while (state() == LeaseState.SUSPENDED && !pause.isNegative() && !pause.isZero());
        return isValid();
    }

    /**
     * Tells a listener of each request to give the leadership back, as {@link Lease#onRevocationRequested} does; not
     * once the term is over. A request changes nothing else: whoever is asked calls {@link LeaderElection#resign}, or
     * not. One with a grace period ends the term when that is over.
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
     * The end of the term: LOST or RELEASED. It waits for no listener. What depends on it runs on the thread that ends
     * the term: one that the client keeps for losses, or the one that resigns.
     *
     * @return the stage, which no caller can complete
     */
    public CompletionStage<LeaseState> ended() {
        return ended.minimalCompletionStage();
    }

    boolean isOver() {
        return over.isDone();
    }

    /** Makes it invalid and interrupts its work, once. Whoever does so: if the lease is lost, the term is. */
    boolean end() {
        boolean ends = over.complete(lease.state() == LeaseState.LOST ? LeaseState.LOST : LeaseState.RELEASED);
        Thread working = worker;
        if (ends && working != null) {
            working.interrupt();
        }
        return ends;
    }

    /** Lets a thread work in it, unless it is over. Whoever ends it from then on interrupts the thread. */
    void employ(LeaderWork<?> work) {
        Thread thread = new Thread(() -> done.complete(perform(work)), "zkrecipes-leader " + lease.path());
        worker = thread;
        if (isOver()) {
            done.complete(Optional.empty());
            return;
        }
        try {
            thread.start();
        } catch (Throwable t) { // no memory for it
            done.complete(Optional.empty());
            throw t;
        }
    }

    private Optional<Throwable> perform(LeaderWork<?> work) {
        try {
            if (isOver()) {
                Thread.currentThread().interrupt(); // it was, perhaps, before it had started
            }
            work.lead(this);
            return Optional.empty();
        } catch (Throwable t) {
            return Optional.of(t);
        }
    }

    /** When nobody works in it, after its end. */
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
