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
 *       first use of a path with an ACL of its own in a session takes more: create, read the ACLs, list.
 *   <li><b>Decide.</b> Sort the list and hand the {@link LockDriver} the nodes in front of our own. A list without our
 *       own node never reaches the driver: the node is gone, and the request queues again.
 *   <li><b>Wait.</b> Watch the nodes that the driver names, so that only their deletion is told, and our own: at once
 *       if the request is next in line, otherwise after a while. When one in front is gone, take it out of the list and
 *       decide again: the list may show too many nodes in front of ours, never too few. Where that is in doubt, list
 *       again first: after a reconnect, when unwatched nodes are in front, when our own is not watched, when a node may
 *       have appeared in front, when the rule has changed.
 *   <li><b>Grant.</b> A reply to our create in this session proves ownership; a node that was found by listing is ours
 *       only if its owner is this session. If no write of the session was committed lately, one is committed first.
 *   <li><b>Leave.</b> Any other ending deletes the node in the background until a server confirms that it is gone.
 * </ol>
 *
 * <p>If the reply to the create is lost, a committed write comes before the list that decides what became of it. If the
 * session ends, the request goes back to the first step in the next one.
 *
 * <p>A recipe makes one of these and hands out what {@link #threadOwned()}, {@link #instanceOwned()} or
 * {@link #unowned()} returns. {@link LockGroups} has locks of two modes, and several locks as one. Instances are
 * thread-safe.
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

    /** {@return where the lock is, below the client's chroot, as in {@link InterProcessLock#path()}} */
    public String path() {
        return spec.path();
    }

    /**
     * A lock that is held by threads and re-entrant for the thread that holds it. What a thread holds, it holds through
     * every lock of the same client, path and rule: that of an equal driver. A thread that holds the path by another
     * rule is refused with {@link dev.zkrecipes.core.LockRefusedException}.
     *
     * @return a new lock, which shares its holds with the others
     */
    public InterProcessLock threadOwned() {
        return EngineLock.of(client, spec, Owner.THREAD, true);
    }

    /**
     * A lock that is held by the instance: not re-entrant, and any thread may release it. A thread that holds the path
     * through a {@linkplain #threadOwned} one is refused: {@link dev.zkrecipes.core.LockRefusedException}.
     *
     * @return a new lock with holds of its own
     */
    public InterProcessLock instanceOwned() {
        return EngineLock.of(client, spec, Owner.INSTANCE, true);
    }

    /**
     * A lock of which the instance may hold any number, as the driver allows: every acquire queues, and any thread may
     * close its lease. {@link InterProcessLock#release} gives back the youngest.
     *
     * @return a new lock with holds of its own
     */
    public InterProcessLock unowned() {
        return EngineLock.of(client, spec, Owner.NOBODY, true);
    }

    /**
     * As {@link #unowned()}, for a lock that is built on top of it and has {@linkplain LockParts#foreign(ForeignLock,
     * LockOptions, InterProcessLock) observed requests of its own}: {@linkplain dev.zkrecipes.core.LockObserver
     * observers} do not hear of it, and the futures of {@link InterProcessLock#acquireAsync} complete on the engine's
     * thread, so stages that depend on them must not block or run an application's code.
     *
     * @return a new lock with holds of its own
     */
    public InterProcessLock unobserved() {
        return EngineLock.of(client, spec, Owner.NOBODY, false);
    }

    /**
     * Lets the calling thread wait as the client's own locks do: by the client's clock, and without running other tasks
     * on a thread of a {@link java.util.concurrent.ForkJoinPool}.
     *
     * @param <T> what it waits for
     * @param future what to wait for
     * @param atMost how long
     * @return its value; empty if it has not ended by then
     * @throws InterruptedException if the thread is interrupted before it has ended
     * @throws dev.zkrecipes.core.LockException with which it has ended
     * @throws IllegalStateException if called on ZooKeeper's event thread
     */
    public <T> Optional<T> await(CompletableFuture<T> future, Duration atMost) throws InterruptedException {
        Objects.requireNonNull(future, "future");
        Objects.requireNonNull(atMost, "atMost");
        Blocking.requireMayBlock(client.scheduler());
        return Blocking.await(future, Deadline.after(atMost, client.scheduler()));
    }

    /**
     * As {@link #await}, for as long as it takes, whatever interrupts the thread; its flag is kept.
     *
     * @param <T> what it waits for
     * @param future what to wait for
     * @return its value
     */
    public <T> T awaitUninterruptibly(CompletableFuture<T> future) {
        Objects.requireNonNull(future, "future");
        return Blocking.uninterruptibly(() -> Blocking.await(future, client.scheduler()));
    }

    /**
     * Waits as the close of what stands on a lock does: for the end of the work under it at most for the client's close
     * time-out, then for the deletion of the node as {@link Lease#close} does. Interrupts do not end the wait, and the
     * thread's flag is kept. Does not wait on ZooKeeper's event thread.
     *
     * @param ended completes, when the work has ended, with what {@link Lease#closeAsync} has returned
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
     * Tells, when the time for a request is over, whether others are the reason: a lock is said to be busy only if it
     * was seen to be.
     *
     * @param request what {@link InterProcessLock#acquireAsync} of a lock made here has returned; empty if the caller
     *     itself has seen the lock busy
     * @param waited how long it was waited for, for the message
     * @return the error to throw otherwise: there is no connection, or no answer yet; empty if the lock was seen to be
     *     busy, or the request is over
     */
    public Optional<LockException> notSeenBusy(Optional<CompletableFuture<Lease>> request, Duration waited) {
        Objects.requireNonNull(request, "request");
        Objects.requireNonNull(waited, "waited");
        return EngineLock.unseen(client, spec, request, waited);
    }

    /**
     * From now on any thread may close this hold; its thread may re-enter while it stands. For a hold that something
     * else ends than the thread that acquired it, such as a transaction. A lock of another library may still refuse
     * every other thread.
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
     * Tells a holder once that somebody else wants its lock: that another node stands in the queue, even one of this
     * client's, or that the lock was asked back. It also tells when that cannot be known any more: the list of the path
     * was refused, or the connection was lost and is there again. Nobody comes unseen between the list and the watch,
     * which are one request.
     *
     * <p>Costs that request and, after a sixth of the session time-out, one read, as a {@linkplain
     * Lease#onRevocationRequested listener} does. Requests to give the lock back are not heard before that. {@link
     * InterProcessLock#tryAcquire()} of others leaves no node, so nobody is told of it.
     *
     * @param lease a lease of a lock that was made here
     * @param told runs on the engine's thread, so it must not block or run an application's code. It does not run once
     *     the lease is closed or lost
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

    /** {@return the client's clock, as {@link System#nanoTime()}} */
    public long nanoTime() {
        return client.scheduler().nanoTime();
    }

    /**
     * Runs a task after a while, on the client's clock; not if the client has been closed by then.
     *
     * @param delay how long to wait
     * @param task runs on the engine's thread, so it must not block or run an application's code
     */
    public void after(Duration delay, Runnable task) {
        client.scheduler().schedule(Objects.requireNonNull(delay, "delay"), Objects.requireNonNull(task, "task"));
    }

    /**
     * Has {@link ZooKeeperClient#close()} end something first that stands on the client, such as an election: before
     * any lease is lost, while requests are still answered and callbacks run. The close waits for it no longer than the
     * client's {@linkplain dev.zkrecipes.core.ZooKeeperClientBuilder#closeTimeout close time-out}; then it logs what is
     * still at work, and goes on. A client that ends itself because of an error in it waits for nothing.
     *
     * @param end begins the end, without waiting, and returns when it is over. It is called by every call of {@code
     *     close()} that comes before that, on the thread that calls: what would wait for that very thread, because
     *     {@code close()} was called by what is to end, must not be waited for. What it throws is logged
     * @return takes it back; has no effect on a close that has begun
     * @throws ClientClosedException if the client is closed, or is just being closed
     */
    public Runnable endBeforeClient(Supplier<CompletableFuture<Void>> end) {
        return client.endBefore(path(), Objects.requireNonNull(end, "end"));
    }

    /**
     * Ends the client, as an error in its engine does. For a recipe that catches an error half-way, such as the end of
     * the stack: if nobody else would delete a node, its session must end. Call it before anything else.
     *
     * @param cause what was thrown
     */
    public void endClientBecauseOf(Throwable cause) {
        client.endBecauseOf(Objects.requireNonNull(cause, "cause"));
    }

    /** {@return a new executor for a recipe's listeners: one after another, on the client's callback executor} */
    public Executor callbacksInOrder() {
        return client.callbacks().sequential();
    }

    /**
     * Looks at the queue of the lock and at its rule, by one request, waiting at most for the request time-out.
     *
     * @return what the server showed; empty if the path does not exist
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
     * @param change makes the new rule of the old one, or of nothing if the lock's node does not exist; called again,
     *     with what is there then, if somebody else changes the rule meanwhile. It runs on the calling thread, its time
     *     does not count against the limit, and what it throws is thrown here
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
