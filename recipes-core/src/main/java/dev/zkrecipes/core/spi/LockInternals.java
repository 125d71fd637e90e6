// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.hold.HeldNode;
import dev.zkrecipes.core.internal.hold.Hold;
import dev.zkrecipes.core.internal.hold.OthersWatch;
import dev.zkrecipes.core.internal.lock.EngineLock;
import dev.zkrecipes.core.internal.lock.OwnedLock.Owner;
import dev.zkrecipes.core.internal.lock.PathQueries;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.thread.Blocking;
import dev.zkrecipes.core.internal.thread.Deadline;
import dev.zkrecipes.core.internal.zk.ClientSettings;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The engine for one path and one driver: the loop that all recipes share.
 *
 * <ol>
 *   <li><b>Enqueue.</b> Create an EPHEMERAL_SEQUENTIAL node under the path and, without waiting for the reply, list the
 *       children. The server answers one session's requests in order, so an uncontended acquire is one round trip. The
 *       list is left out if the client knows the queue: it was the last to create a node there, and the number of the
 *       new node is the next one, or it has created the path together with the node. In each session, the first use of
 *       a path with an ACL of its own takes more: create, read the ACLs, list.
 *   <li><b>Decide.</b> Sort the list and hand the {@link LockDriver} the nodes in front of our own. A list without our
 *       own node never reaches the driver: the node is gone, and the request queues again.
 *   <li><b>Wait.</b> Watch the nodes that the driver names, for their deletion only, and our own node: at once if the
 *       request is next in line, otherwise after a while. When a node in front is deleted, remove it from the list and
 *       decide again: the list may show too many nodes in front of ours, but never too few. If that is in doubt, list
 *       again first: after a reconnect, if unwatched nodes are in front, if our own node is not watched, if a node may
 *       have appeared in front, or if the rule has changed.
 *   <li><b>Grant.</b> A reply to our create in this session proves ownership; a node found by listing is ours only if
 *       its owner is this session. If no write of the session was committed recently, one is committed first.
 *   <li><b>Leave.</b> If the request ends in any other way, its node is deleted in the background, with retries until a
 *       server confirms that it is gone.
 * </ol>
 *
 * <p>If the reply to the create is lost, a committed write precedes the list that shows whether the node was created.
 * If the session ends, the request goes back to the first step in the next session.
 *
 * <p>A recipe creates one instance and hands out what {@link #threadOwned()}, {@link #instanceOwned()} or
 * {@link #unowned()} returns. {@link LockGroups} creates locks of two modes, and combines several locks into one.
 * Instances are thread-safe.
 */
public final class LockInternals {
    private final EngineClient client;
    private final LockSpec spec;

    /**
     * Prepares the engine; sends nothing.
     *
     * @param client the client to use
     * @param path absolute path of the lock, below the client's chroot
     * @param driver decides who holds
     * @param options optional settings
     * @throws IllegalArgumentException if the path is not a valid absolute path, or the driver's
     *     node name is malformed
     */
    public LockInternals(ZooKeeperClient client, String path, LockDriver driver, LockOptions options) {
        Objects.requireNonNull(driver, "driver");
        Objects.requireNonNull(options, "options");
        this.client = EngineClient.of(client);
        ClientSettings settings = this.client.settings();
        String whole = settings.whole(path);
        this.spec = new LockSpec(settings.aclOf().apply(whole), whole, driver, options);
    }

    /** {@return the path of the lock, below the client's chroot, as in {@link InterProcessLock#path()}} */
    public String path() {
        return spec.path();
    }

    /**
     * Creates a lock that is held by threads and re-entrant for the thread that holds it. Locks of the same client and
     * path share their holds if they have the same rule, that is, equal drivers. A thread that holds the path under
     * another rule is refused with {@link dev.zkrecipes.core.LockRefusedException}.
     *
     * @return a new lock, which shares its holds with the others
     */
    public InterProcessLock threadOwned() {
        return EngineLock.of(client, spec, Owner.THREAD, true);
    }

    /**
     * Creates a lock that is held by the instance: it is not re-entrant, and any thread may release it. If a thread
     * that holds the path through a {@linkplain #threadOwned thread-owned} lock would wait, it is refused with
     * {@link dev.zkrecipes.core.LockRefusedException}; its {@link InterProcessLock#tryAcquire()} finds the lock busy.
     *
     * @return a new lock with holds of its own
     */
    public InterProcessLock instanceOwned() {
        return EngineLock.of(client, spec, Owner.INSTANCE, true);
    }

    /**
     * Creates a lock of which the instance may have any number of holds, as far as the driver allows: every acquire
     * queues, and any thread may close its lease. {@link InterProcessLock#release} releases the youngest hold.
     *
     * @return a new lock with holds of its own
     */
    public InterProcessLock unowned() {
        return EngineLock.of(client, spec, Owner.NOBODY, true);
    }

    /**
     * As {@link #unowned()}, for a lock that is built on top of it and has {@linkplain LockParts#foreign(ForeignLock,
     * LockOptions, InterProcessLock) observed requests of its own}:
     * {@linkplain dev.zkrecipes.core.LockObserver observers} are not told of its requests, and the futures of
     * {@link InterProcessLock#acquireAsync} complete on the engine's thread, so stages that depend on them must not
     * block or run application code.
     *
     * @return a new lock with holds of its own
     */
    public InterProcessLock unobserved() {
        return EngineLock.of(client, spec, Owner.NOBODY, false);
    }

    /**
     * Waits for a future as the client's own locks do: by the client's clock, and without running other tasks on a
     * thread of a {@link java.util.concurrent.ForkJoinPool}.
     *
     * @param <T> the type of the value
     * @param future what to wait for
     * @param atMost how long
     * @return the value of the future; empty if it is not completed by then
     * @throws InterruptedException if the thread is interrupted before the future completes
     * @throws dev.zkrecipes.core.LockException if the future completes with it
     * @throws IllegalStateException if called on ZooKeeper's event thread
     */
    public <T> Optional<T> await(CompletableFuture<T> future, Duration atMost) throws InterruptedException {
        Objects.requireNonNull(future, "future");
        Objects.requireNonNull(atMost, "atMost");
        Blocking.requireMayBlock(client.scheduler());
        return Blocking.await(future, Deadline.after(atMost, client.scheduler()));
    }

    /**
     * Waits as {@link #await} does, but for as long as it takes. Interruption does not end the wait; the interrupt flag
     * is kept.
     *
     * @param <T> the type of the value
     * @param future what to wait for
     * @return its value
     */
    public <T> T awaitUninterruptibly(CompletableFuture<T> future) {
        Objects.requireNonNull(future, "future");
        return Blocking.uninterruptibly(() -> Blocking.await(future, client.scheduler()));
    }

    /**
     * Waits on behalf of the close of something that is built on a lock: first, at most for the client's close
     * time-out, until the work under the lock has ended, then for the deletion of the node as {@link Lease#close} does.
     * Interruption does not end the wait; the interrupt flag is kept. Does not wait on ZooKeeper's event thread.
     *
     * @param ended completes, when the work has ended, with the result of {@link Lease#closeAsync}
     * @return false if the work has not ended in time
     */
    public boolean awaitClosed(CompletableFuture<CompletableFuture<Void>> ended) {
        Objects.requireNonNull((Object) ended, "ended"); // a future that is returned would have to be used
        if (!Blocking.mayBlock(client.scheduler())) {
            return true;
        }
        Deadline limit = Deadline.after(client.settings().closeTimeout(), client.scheduler());
        Optional<CompletableFuture<Void>> deletion = Blocking.uninterruptibly(() -> Blocking.await(ended, limit));
        deletion.ifPresent(client.connection()::awaitWhileConnected);
        return deletion.isPresent();
    }

    /**
     * Determines, when a request has timed out, whether other holders are the reason: a lock is reported as busy only
     * if it was seen to be.
     *
     * @param request the result of {@link InterProcessLock#acquireAsync} of a lock created here; empty if the caller
     *     itself has seen the lock busy
     * @param waited how long the caller has waited, for the message
     * @return the error to throw if there is no connection, or no answer yet; empty if the lock was seen to be busy, or
     *     the request has ended
     */
    public Optional<LockException> notSeenBusy(Optional<CompletableFuture<Lease>> request, Duration waited) {
        Objects.requireNonNull(request, "request");
        Objects.requireNonNull(waited, "waited");
        return EngineLock.unseen(client, spec, request, waited);
    }

    /**
     * Allows any thread to close this hold from now on; its own thread may re-enter while the hold is open. Intended
     * for a hold that is ended by something other than the thread that acquired it, such as a transaction. A lock of
     * another library may still refuse every other thread.
     *
     * @param lease a lease; nothing changes for one that is not of this library
     * @throws IllegalMonitorStateException if the hold belongs to another thread that is alive
     */
    public static void letAnyThreadClose(Lease lease) {
        if (Objects.requireNonNull(lease, "lease") instanceof Hold hold) {
            hold.letAnyThreadClose();
        }
    }

    /**
     * Notifies a holder once that somebody else wants its lock: another node is in the queue, even one of this client,
     * or somebody has requested that the lock be given back. Also notifies the holder when that can no longer be known:
     * the list of the path was refused, or the connection was lost and has been restored. No arrival is missed between
     * the list and the watch, which are one request.
     *
     * <p>This costs that request and, after a sixth of the session time-out, one read, as a
     * {@linkplain Lease#onRevocationRequested listener} does. Requests to give the lock back are not noticed before
     * that. {@link InterProcessLock#tryAcquire()} of others leaves no node, so it causes no notification.
     *
     * @param lease a lease of a lock that was created here
     * @param told runs on the engine's thread, so it must not block or run application code. It does not run once the
     *     lease is closed or lost
     * @throws IllegalArgumentException if the lease is not of a lock of the engine
     */
    public static void whenWanted(Lease lease, Runnable told) {
        Objects.requireNonNull(told, "told");
        if (!(Objects.requireNonNull(lease, "lease") instanceof Hold hold)
                || !(hold.grant().first() instanceof HeldNode node)) {
            throw new IllegalArgumentException("not a lease of a lock of the engine: " + lease);
        }
        new OthersWatch(node, told).begin();
    }

    /** {@return the time of the client's clock, as {@link System#nanoTime()}} */
    public long nanoTime() {
        return client.scheduler().nanoTime();
    }

    /**
     * Runs a task after a delay, by the client's clock, unless the client has been closed by then.
     *
     * @param delay how long to wait
     * @param task runs on the engine's thread, so it must not block or run application code
     */
    public void after(Duration delay, Runnable task) {
        client.scheduler().schedule(Objects.requireNonNull(delay, "delay"), Objects.requireNonNull(task, "task"));
    }

    /**
     * Makes {@link ZooKeeperClient#close()} first end something that is built on the client, such as an election:
     * before any lease is lost, while requests are still answered and callbacks still run. The close waits for it no
     * longer than the client's {@linkplain dev.zkrecipes.core.ZooKeeperClientBuilder#closeTimeout close time-out}; then
     * it logs what is still at work, and continues. A client that ends itself because of an internal error waits for
     * nothing.
     *
     * @param end starts the end, without waiting, and returns a future of its completion. Every call of {@code close()}
     *     before that completion calls it, on the calling thread. If {@code close()} was called by the very work that
     *     is to end, the future must not wait for that work. What it throws is logged
     * @return cancels the registration; has no effect on a close that has begun
     * @throws ClientClosedException if the client is closed or is being closed
     */
    public Runnable endBeforeClient(Supplier<CompletableFuture<Void>> end) {
        return client.endBefore(path(), Objects.requireNonNull(end, "end"));
    }

    /**
     * Ends the client, as an error in its engine does. Intended for a recipe that catches an error such as a
     * {@link StackOverflowError} halfway through: if nobody else would delete a node, its session must end. Call it
     * before anything else.
     *
     * @param cause what was thrown
     */
    public void endClientBecauseOf(Throwable cause) {
        client.endBecauseOf(Objects.requireNonNull(cause, "cause"));
    }

    /**
     * {@return a new executor for a recipe's listeners, which runs them one at a time, in order, on the client's
     * callback executor}
     */
    public Executor callbacksInOrder() {
        return client.callbacks().sequential();
    }

    /**
     * Reads the queue of the lock and its rule in one request, waiting at most for the request time-out.
     *
     * @return the queue and the rule; empty if the path does not exist
     * @throws InterruptedException as {@link InterProcessLock#participants}
     * @throws LockException as {@link InterProcessLock#participants}, or if the driver refuses
     */
    public LockSnapshot snapshot() throws InterruptedException {
        return new PathQueries(client, spec).snapshot();
    }

    /**
     * Changes the rule of a lock with a {@link SharedRuleDriver}: waiting requests decide again, held locks stay held.
     * Waits at most for the request time-out.
     *
     * @param change computes the new rule from the old one, which is empty if the lock's node does not exist; called
     *     again, with the rule at that time, if somebody else changes the rule meanwhile. It runs on the calling
     *     thread, its time does not count against the limit, and what it throws is thrown here
     * @throws InterruptedException as {@link InterProcessLock#participants}
     * @throws LockException as {@link InterProcessLock#participants}; if there was no answer in time, it is not known
     *     whether the rule was changed
     */
    public void changeRule(Function<Optional<byte[]>, byte[]> change) throws InterruptedException {
        new PathQueries(client, spec).changeRule(Objects.requireNonNull(change, "change"));
    }

    LockSpec spec() {
        return spec;
    }
}
