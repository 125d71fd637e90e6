// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.client;

import com.google.common.base.Preconditions;
import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import dev.zkrecipes.core.internal.acquire.AcquireLoop;
import dev.zkrecipes.core.internal.acquire.Requests;
import dev.zkrecipes.core.internal.clean.NodeCleaner;
import dev.zkrecipes.core.internal.hold.LockDataTable;
import dev.zkrecipes.core.internal.hold.LockLog;
import dev.zkrecipes.core.internal.hold.ObservedRequest;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.session.KeepAlive;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.thread.Blocking;
import dev.zkrecipes.core.internal.thread.Callbacks;
import dev.zkrecipes.core.internal.thread.Completion;
import dev.zkrecipes.core.internal.thread.Deadline;
import dev.zkrecipes.core.internal.thread.EngineExecutor;
import dev.zkrecipes.core.internal.thread.EngineThreads;
import dev.zkrecipes.core.internal.thread.LastResort;
import dev.zkrecipes.core.internal.thread.Pauses;
import dev.zkrecipes.core.internal.wire.OwnerLabel;
import dev.zkrecipes.core.internal.wire.Printable;
import dev.zkrecipes.core.internal.zk.ClientSettings;
import dev.zkrecipes.core.internal.zk.ConnectString;
import dev.zkrecipes.core.internal.zk.HandleKind;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ties the parts of one client together and ends them. Methods may be called from any thread.
 *
 * <p>A client that is closed ends in order. Whatever depends on it, such as elections, ends first, for a limited time.
 * Then every request fails and every lease ends. Then nodes are deleted, again for a limited time, if they outlive the
 * sessions or are too many for one transaction. Then the handles are closed, and the threads end.
 *
 * <p>A client also ends if one of its tasks throws, because its state can no longer be trusted. Then everything ends at
 * once.
 */
public final class EngineClient {
    private static final Logger log = LoggerFactory.getLogger(EngineClient.class);

    // Access to what the public class does not expose. Both are set when that class is loaded.
    private static volatile @Nullable Function<ZooKeeperClient, EngineClient> behind;
    private static volatile @Nullable Function<HandleKind, ZooKeeperClientBuilder> builders;

    private final HandleKind kind;
    private final ClientSettings settings;
    private final EngineScheduler scheduler;
    private final LastResort lastResort;
    private final Callbacks callbacks;
    private final ClientConnection connection;
    private final ClientSessions sessions;
    private final NodeCleaner cleaner;
    private final Requests requests;
    private final LockDataTable holds; // the holds of all its threads
    private final @Nullable SlowWaits slowWaits;
    private final DeadlockWatch deadlocks;
    private final Dependants dependants; // what ends before the client does

    private final AtomicBoolean closing = new AtomicBoolean(); // set once whatever depended on the client has ended
    private final CompletableFuture<Void> closed = new CompletableFuture<>(); // completes when the client has ended
    private volatile @Nullable Thread hook; // closes this client when the JVM ends in order

    private EngineClient(HandleKind kind, ClientSettings settings) {
        this.kind = kind;
        this.settings = settings;
        // With an executor of the application's, a task may run user code that waits for another thread. Then no task
        // may run on a thread of the application's.
        this.scheduler = kind instanceof HandleKind.Simulated simulated
                ? simulated.scheduler()
                : new EngineExecutor(settings.callbackExecutor() != null);
        this.lastResort = scheduler instanceof EngineExecutor real ? real.lastResort : new LastResort(scheduler);
        // A simulation has no threads. So losses, which otherwise have a pool of their own, run on the executor as
        // well.
        this.callbacks = Callbacks.on(
                settings.callbackExecutor(),
                kind instanceof HandleKind.Simulated ? settings.callbackExecutor() : null, // for losses
                scheduler);
        Pauses pauses = new Pauses(scheduler, settings.firstRetryDelay(), settings.longestRetryDelay());
        String rootName = kind instanceof HandleKind.Opened opened
                        && opened.connectString().contains("/")
                ? "the chroot " + ConnectString.chroot(opened.connectString()) + " of the connection"
                : "the root of the connection (its chroot)";
        this.connection = new ClientConnection(kind, settings, scheduler, callbacks, closing::get);
        this.sessions = new ClientSessions(
                kind,
                settings,
                scheduler,
                connection,
                pauses,
                closing::get,
                () -> cleaner().wake(),
                () -> holds().lookForDeadOwners());
        this.cleaner = new NodeCleaner(scheduler, pauses, sessions.source(), connection::requestTimeout);
        this.requests = new Requests(
                scheduler,
                sessions.source(),
                cleaner,
                pauses,
                OwnerLabel.encode(settings.ownerLabel()),
                rootName,
                connection::missing);
        this.slowWaits =
                settings.slowAfter() == null ? null : new SlowWaits(settings.slowAfter(), requests, connection);
        this.deadlocks = new DeadlockWatch(requests, settings.slowAfter());
        this.holds = new LockDataTable(requests.open(), scheduler::nanoTime);
        this.dependants = new Dependants(scheduler, settings.closeTimeout(), closing::get);
        scheduler.onFailure(this::endAtOnce);
    }

    /** Creates a client and returns at once. Its first session is opened on the engine thread. */
    public static EngineClient start(HandleKind kind, ClientSettings settings) {
        EngineClient client = new EngineClient(kind, settings);
        if (settings.closeOnShutdown()) {
            client.closeOnShutdown();
        }
        client.connection.begin();
        client.scheduler.execute(client.sessions.source()::start);
        return client;
    }

    /**
     * Registers a hook that closes the client when the JVM ends in order: by {@code System.exit}, after the last
     * thread, by SIGTERM, SIGINT (Ctrl-C) or SIGHUP. If the JVM is already shutting down, closes the client and throws.
     */
    private void closeOnShutdown() {
        Thread closing = EngineThreads.atShutdown(this::close);
        try {
            Runtime.getRuntime().addShutdownHook(closing);
            hook = closing;
        } catch (IllegalStateException e) {
            close();
            throw new IllegalStateException(
                    "the JVM is shutting down, so a client with closeOnShutdown() cannot be made any more", e);
        }
    }

    /** Called by {@link ZooKeeperClient} when that class is loaded, hence before any client exists. */
    public static void reachedBy(
            Function<ZooKeeperClient, EngineClient> toEngine, Function<HandleKind, ZooKeeperClientBuilder> toBuilder) {
        behind = toEngine;
        builders = toBuilder;
    }

    /** Returns the engine behind the client that an application has. */
    public static EngineClient of(ZooKeeperClient client) {
        Objects.requireNonNull(client, "client");
        return Objects.requireNonNull(behind).apply(client);
    }

    /** Returns a builder of a client on handles of this kind. The public class does not offer all kinds. */
    public static ZooKeeperClientBuilder builder(HandleKind kind) {
        var unused = ZooKeeperClient.builder(); // loads the class, which sets the functions
        return Objects.requireNonNull(builders).apply(kind);
    }

    // ---- What the parts share.

    public ClientSettings settings() {
        return settings;
    }

    public EngineScheduler scheduler() {
        return scheduler;
    }

    public Callbacks callbacks() {
        return callbacks;
    }

    public LastResort lastResort() {
        return lastResort;
    }

    public ClientSessions sessions() {
        return sessions;
    }

    /** Returns the record of the holds of this client. */
    public LockDataTable holds() {
        return holds;
    }

    /**
     * Begins to report a request. Returns null if nobody is interested: no observer, no log, no warning about long
     * waits.
     */
    @Nullable
    public ObservedRequest observe(LockGroup group) {
        if (settings.observers().isEmpty() && slowWaits == null && !LockLog.isForRequests()) {
            return null;
        }
        ObservedRequest begun = new ObservedRequest(settings.observers(), scheduler, callbacks, group);
        if (slowWaits != null) {
            slowWaits.add(begun);
        }
        return begun;
    }

    /** Checks from time to time whether this request waits for itself. */
    public void watchForDeadlocks(AcquireLoop nested, @Nullable ObservedRequest observed) {
        deadlocks.add(nested, observed);
    }

    public NodeCleaner cleaner() {
        return cleaner;
    }

    public Requests requests() {
        return requests;
    }

    public Duration requestTimeout() {
        return connection.requestTimeout();
    }

    /** Returns the deadline of a call that begins now and waits for answers of the server. */
    public Deadline requestDeadline() {
        return Deadline.after(requestTimeout(), scheduler);
    }

    public ClientConnection connection() {
        return connection;
    }

    private void requireOpen() {
        if (closing.get()) {
            throw requests.closed("the ZooKeeperClient", "");
        }
    }

    // ---- For applications, see ZooKeeperClient.

    public boolean awaitConnected(Duration timeout) throws InterruptedException {
        Blocking.requireNotNegative(timeout);
        Blocking.requireMayBlock(scheduler);
        Blocking.throwIfInterrupted();
        requireOpen();
        boolean isConnected = connection.await(Deadline.after(timeout, scheduler));
        requireOpen();
        return isConnected;
    }

    public void updateConnectString(String connectString) {
        String checked = ConnectString.parse(connectString);
        if (!(kind instanceof HandleKind.Opened servers)) {
            throw new IllegalStateException(
                    "this client opens no sessions, so its servers are those of the handles that it is given: call"
                            + " updateServerList of these handles");
        }
        String chroot = ConnectString.chroot(servers.connectString());
        Preconditions.checkArgument(
                ConnectString.chroot(checked).equals(chroot),
                "the connect string \"%s\" has another chroot than \"%s\", which would make other locks of all paths: make"
                        + " a new client",
                Printable.of(checked),
                Printable.of(servers.connectString()));
        requireOpen();
        scheduler.execute(() -> sessions.use(servers, checked));
    }

    public String ownerLabel() {
        return settings.ownerLabel();
    }

    @Override
    public String toString() {
        return "ZooKeeperClient[" + connection.describe() + ", owner " + ownerLabel() + "]";
    }

    // ---- The end.

    /**
     * Registers {@code end} to be called before the client ends, see {@code LockInternals.endBeforeClient}. The
     * returned task undoes the registration.
     */
    public Runnable endBefore(String path, Supplier<CompletableFuture<Void>> end) {
        return dependants.add(path, end).orElseThrow(() -> requests.closedFor(path));
    }

    /**
     * Closes the client and waits until it has ended. The wait is limited: by the close time-out for whatever depends
     * on the client, and by the request time-out for the rest. On a thread that feeds the engine there is no wait.
     */
    public void close() {
        Duration most = beginClose() ? requestTimeout() : requestTimeout().plus(settings.closeTimeout());
        if (Blocking.mayBlock(scheduler)) {
            Blocking.awaitQuietly(closed, Deadline.after(most, scheduler));
        }
    }

    /** Begins to close the client. Returns whether nothing is left that has to end first. */
    @CanIgnoreReturnValue
    boolean beginClose() {
        CompletableFuture<Void> over = dependants.end();
        Completion.on(over, (done, failure) -> closeNow());
        return over.isDone();
    }

    /** Ends the client, only once. From here on no request begins. */
    private void closeNow() {
        if (closing.compareAndSet(false, true)) {
            requests.close();
            connection.endWaits();
            scheduler.execute(this::endInOrder);
        }
    }

    /**
     * Ends leases and requests. Then waits a while for the deletion of nodes that the end of the sessions does not
     * delete, and closes the handles.
     */
    private void endInOrder() {
        List<KeepAlive.CheckedNode> held = endLeasesAndRequests(LockLog.CLIENT_CLOSED);
        // A task of its own, so that it runs after the tasks that hand these nodes to the cleaner.
        scheduler.execute(() -> awaitDeletions(held));
    }

    /** Ends all leases as lost and fails all requests. Returns the nodes that were held. */
    private List<KeepAlive.CheckedNode> endLeasesAndRequests(String reason) {
        List<KeepAlive.CheckedNode> held = sessions.living().stream()
                .flatMap(session -> session.keepAlive().all().stream())
                .toList();
        each(held, each -> each.endAtOnce(reason));
        each(List.copyOf(requests.open()), request -> request.fail(requests.closedFor(request.lockPath())));
        return held;
    }

    /** Runs the action for each element. An error with one of them must not keep the others from being ended. */
    private <T> void each(List<T> all, Consumer<T> action) {
        for (T one : all) {
            try {
                action.accept(one);
            } catch (Throwable t) {
                log.warn("The end of the lock client met an error.", t);
            }
        }
    }

    /**
     * Waits for deletions, if closing the handles does not delete all nodes by itself: handles of the application's
     * stay open, some nodes may belong to sessions that have already ended, and too many nodes do not fit into the one
     * transaction that ends a session.
     */
    private void awaitDeletions(List<KeepAlive.CheckedNode> held) {
        List<Session> alive = sessions.living();
        boolean closingDeletes = kind.ownsSessions()
                && !cleaner.hasNodesBeside(alive)
                && alive.stream().allMatch(session -> session.nodes().isSmall());
        CompletableFuture<Void> cleaned = closingDeletes ? CompletableFuture.completedFuture(null) : cleaner.idle();
        Timer timer = scheduler.schedule(requestTimeout().dividedBy(2), () -> cleaned.complete(null));
        Completion.on(cleaned, (done, failure) -> {
            timer.cancel();
            scheduler.execute(() -> closeHandles(held)); // a task of its own, so that an exception ends the client
        });
    }

    /**
     * Closes the handles on another thread, because that may block. Afterwards no node can be deleted any more, so this
     * ends all waits for deletions.
     */
    private void closeHandles(List<KeepAlive.CheckedNode> held) {
        sessions.source().stop();
        List<Session> open = sessions.living();
        if (!kind.ownsSessions()) {
            cleaner.leaveToHandles();
            open.forEach(session -> {
                session.keptViews().end();
                session.watches().dropUnused();
            });
        }
        scheduler.executeBlocking(() -> {
            each(open, session -> session.zk().close());
            scheduler.execute(() -> {
                open.forEach(session -> session.become(State.CLOSED));
                cleaner.abandonAll();
                held.forEach(KeepAlive.CheckedNode::abandon);
                onEnded();
            });
        });
    }

    /**
     * Fail-stop: a task of the engine has thrown, so the state of the engine can no longer be trusted. Everything ends,
     * whatever was under way; the nodes are deleted with the sessions.
     *
     * <p>Runs on the engine thread, and is repeated if it throws. It throws if no thread can be started to close a
     * handle; leases and requests have ended by then.
     */
    private void endAtOnce(Throwable cause) {
        if (requests.closeBecauseOf(cause)) {
            log.error(
                    "The lock client has ended itself because of an error in it: its locks are lost, and every request"
                            + " fails. Make a new client, and report the error with its stack trace.",
                    cause);
        }
        dependants.refuse();
        closing.set(true);
        connection.endWaits();
        List<KeepAlive.CheckedNode> held = endLeasesAndRequests(
                "the client has ended itself because of an error in it: " + Printable.of(cause.toString()));
        each(List.of(cleaner), NodeCleaner::leaveToHandles);
        each(held, KeepAlive.CheckedNode::abandon);
        each(List.of(cleaner), NodeCleaner::abandonAll);
        sessions.source().stop();
        // A session counts as living until the close of every handle has begun, so a repetition finds all of them.
        List<Session> open = sessions.living();
        open.forEach(session -> scheduler.executeBlocking(session.zk()::close));
        each(open, session -> session.become(State.CLOSED));
        onEnded();
    }

    /** Releases the shutdown hook and the threads of the client, and completes its end. */
    private void onEnded() {
        Thread registered = hook;
        if (registered != null) {
            try {
                Runtime.getRuntime().removeShutdownHook(registered);
            } catch (IllegalStateException e) {
                // The JVM is shutting down, and this may be the hook's own thread.
            }
        }
        connection.end();
        callbacks.close();
        scheduler.close();
        closed.complete(null);
    }

    /**
     * Ends the client because something was left half done. May be called from any thread, even near the end of its
     * stack.
     */
    public void endBecauseOf(Throwable thrown) {
        lastResort.thrown = thrown;
        lastResort.wakeEngine();
    }
}
