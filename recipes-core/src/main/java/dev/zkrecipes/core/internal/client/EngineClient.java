// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.client;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockObserver;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.acquire.Acquisitions;
import dev.zkrecipes.core.internal.acquire.Requests;
import dev.zkrecipes.core.internal.lock.DeadOwnerCheck;
import dev.zkrecipes.core.internal.lock.HoldingHost;
import dev.zkrecipes.core.internal.lock.LockDataTable;
import dev.zkrecipes.core.internal.node.LockLog;
import dev.zkrecipes.core.internal.node.NodeCleaner;
import dev.zkrecipes.core.internal.revoke.Revocations;
import dev.zkrecipes.core.internal.session.LargePackets;
import dev.zkrecipes.core.internal.session.MeasuredOperations;
import dev.zkrecipes.core.internal.session.OpenedSessions;
import dev.zkrecipes.core.internal.session.PauseDetector;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.session.SessionSource;
import dev.zkrecipes.core.internal.session.SuppliedSessions;
import dev.zkrecipes.core.internal.session.WrappedSession;
import dev.zkrecipes.core.internal.thread.Backoff;
import dev.zkrecipes.core.internal.thread.Blocking;
import dev.zkrecipes.core.internal.thread.Callbacks;
import dev.zkrecipes.core.internal.thread.Completion;
import dev.zkrecipes.core.internal.thread.Deadline;
import dev.zkrecipes.core.internal.thread.EngineThread;
import dev.zkrecipes.core.internal.wire.OwnerLabel;
import dev.zkrecipes.core.internal.zk.AnsweringOperations;
import dev.zkrecipes.core.internal.zk.ClientSettings;
import dev.zkrecipes.core.internal.zk.ConnectString;
import dev.zkrecipes.core.internal.zk.ConnectionTrouble;
import dev.zkrecipes.core.internal.zk.HandleKind;
import dev.zkrecipes.core.internal.zk.OpenedHandles;
import dev.zkrecipes.core.internal.zk.WrappedHandles;
import dev.zkrecipes.core.internal.zk.ZooKeeperErrors;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Ties the parts of one client together and ends them. */
public final class EngineClient implements HoldingHost {
    private static final Logger log = LoggerFactory.getLogger(EngineClient.class);

    private final ClientSettings settings;
    private final EngineScheduler scheduler;
    private final Callbacks callbacks;
    private final ConnectionReporter reporter;
    private final SessionSource sessions;
    private final Optional<ConnectionTrouble> trouble;
    private final NodeCleaner cleaner;
    private final Requests requests;
    private final Acquisitions acquisitions;
    private final LockDataTable holds = new LockDataTable();
    private final DeadOwnerCheck deadOwners;
    private final LargePackets packets = new LargePackets();
    private final Revocations revocations;
    private final Map<Session, PauseDetector> pauseDetectors = new ConcurrentHashMap<>();
    private final Set<Session> living = pauseDetectors.keySet();
    /** What ends the waits that are of no use without a connection. */
    private final Set<Runnable> untilDisconnected = ConcurrentHashMap.newKeySet();

    private final AtomicBoolean closing = new AtomicBoolean();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    /** Completes when connected, with true, or closed, with false; a new one after every disconnect. */
    private volatile CompletableFuture<Boolean> connected = new CompletableFuture<>();

    private @Nullable Session used; // the one that was asked for last: its states are the client's
    private volatile Duration sessionTimeout;
    private volatile Duration requestTimeout;
    private volatile Optional<ZooKeeper> handle = Optional.empty();
    private volatile long sessionId;
    private final String servers;
    private volatile @Nullable ShutdownHook hook;

    private EngineClient(HandleKind kind, ClientSettings settings) {
        this.settings = settings;
        this.scheduler = kind instanceof HandleKind.Simulated simulated ? simulated.scheduler() : new EngineThread();
        this.callbacks = kind instanceof HandleKind.Simulated
                ? Callbacks.allOn(settings.callbackExecutor(), scheduler)
                : Callbacks.on(settings.callbackExecutor(), scheduler);
        this.reporter = new ConnectionReporter(callbacks::sequential);
        String rootName = kind instanceof HandleKind.Opened opened
                        && opened.connectString().contains("/")
                ? "the chroot " + ConnectString.chroot(opened.connectString()) + " of the connection"
                : "the root of the connection (its chroot)";
        this.trouble = kind instanceof HandleKind.Opened opened
                ? Optional.of(new ConnectionTrouble(opened.connectString(), settings.clientConfig(), scheduler))
                : Optional.empty();
        this.servers =
                kind instanceof HandleKind.Opened opened ? opened.connectString() : "a handle of the application's";
        this.sessionTimeout = settings.sessionTimeout();
        this.requestTimeout = requestTimeoutFor(sessionTimeout);
        this.sessions = sessionSource(kind);
        this.cleaner = new NodeCleaner(scheduler, this::newPace, sessions, this::requestTimeout);
        this.requests = new Requests(
                scheduler,
                sessions,
                cleaner,
                this::newPace,
                OwnerLabel.encode(settings.ownerLabel()),
                rootName,
                this::notConnected);
        this.acquisitions = new Acquisitions(requests);
        this.revocations = new Revocations(scheduler, sessions, this::newPace, callbacks, this::requireOpenFor);
        this.deadOwners = new DeadOwnerCheck(holds, requests.open(), scheduler);
    }

    /** Makes a client and returns at once. */
    public static EngineClient start(HandleKind kind, ClientSettings settings) {
        EngineClient client = new EngineClient(kind, settings);
        if (settings.closeOnShutdown()) {
            client.hook = ShutdownHook.register(client::close);
        }
        client.scheduler.execute(client.sessions::start);
        client.trouble.ifPresent(found -> found.watch(client.requestTimeout()));
        return client;
    }

    /** The engine behind a client, or an error if it is not one of ours. */
    public static EngineClient of(ZooKeeperClient client) {
        if (client instanceof EngineClient engine) {
            return engine;
        }
        throw new IllegalArgumentException(
                "not a client of this library: " + client + "; make one with ZooKeeperClient.connect, wrap or builder");
    }

    private Backoff newPace() {
        return new Backoff(settings.firstRetryDelay(), settings.longestRetryDelay(), scheduler.random());
    }

    private SessionSource sessionSource(HandleKind kind) {
        if (kind instanceof HandleKind.Opened opened) {
            return new OpenedSessions(
                    () -> session(new OpenedHandles(opened.connectString(), settings, scheduler)),
                    scheduler,
                    newPace());
        } else if (kind instanceof HandleKind.Wrapped wrapped) {
            return new WrappedSession(() -> session(new WrappedHandles(wrapped.handle(), scheduler)));
        } else if (kind instanceof HandleKind.Supplied supplied) {
            return new SuppliedSessions(
                    supplied.supplier(),
                    found -> session(new WrappedHandles(found, scheduler)),
                    this::use,
                    scheduler,
                    newPace());
        } else {
            ZooKeeperOperations.Factory factory = ((HandleKind.Simulated) kind).factory();
            return new OpenedSessions(() -> session(factory), scheduler, newPace());
        }
    }

    private Session session(ZooKeeperOperations.Factory factory) {
        // Each session has its own: a supplier's handles may differ in their time-outs.
        AtomicLong timeout = new AtomicLong(settings.sessionTimeout().toNanos());
        PauseDetector pauses = new PauseDetector(scheduler, timeout::get);
        boolean isNew = sessions.ownsSessions();
        Session session = new Session(
                MeasuredOperations.factory(AnsweringOperations.factory(factory, scheduler), scheduler, packets),
                scheduler,
                settings.longestRetryDelay(),
                pauses,
                isNew,
                (changed, state) -> {
                    timeout.set(changed.timeoutNanos() > 0 ? changed.timeoutNanos() : timeout.get());
                    if (state == State.CONNECTED) {
                        if (changed.connection() == 1) {
                            Duration granted = Duration.ofNanos(changed.timeoutNanos());
                            LockLog.sessionBegins(
                                    changed.zk().sessionId(), isNew ? settings.sessionTimeout() : granted, granted);
                        }
                        pauses.begin(); // with the time-out that was granted
                    } else if (state.isFinal()) {
                        pauses.end();
                    }
                    onState(changed, state);
                });
        pauses.begin();
        pauseDetectors.put(session, pauses);
        session.begin();
        use(session);
        return session;
    }

    /** From now on the state of this session is the client's. */
    private void use(Session session) {
        if (session != used && !session.isEnded()) {
            used = session;
            handle = session.zk().handle();
            tellState(session, session.state());
        }
    }

    // ---- What the parts share.

    public ClientSettings settings() {
        return settings;
    }

    @Override
    public EngineScheduler scheduler() {
        return scheduler;
    }

    @Override
    public Callbacks callbacks() {
        return callbacks;
    }

    @Override
    public List<LockObserver> observers() {
        return settings.observers();
    }

    @Override
    public SessionSource sessions() {
        return sessions;
    }

    public NodeCleaner cleaner() {
        return cleaner;
    }

    /** The requests of this client that are under way. */
    public Requests requests() {
        return requests;
    }

    @Override
    public Acquisitions acquisitions() {
        return acquisitions;
    }

    @Override
    public LockDataTable holds() {
        return holds;
    }

    @Override
    public DeadOwnerCheck deadOwners() {
        return deadOwners;
    }

    /** An error that tells of the missing connection. Any thread. */
    @Override
    public LockConnectionException notConnected(String consequence) {
        return trouble.map(found -> found.error(consequence))
                .orElseGet(() -> ConnectionTrouble.unexplained(consequence));
    }

    /** How long a call that needs one answer waits for it. Any thread. */
    @Override
    public Duration requestTimeout() {
        return requestTimeout;
    }

    private Duration requestTimeoutFor(Duration sessionTimeout) {
        Duration given = settings.requestTimeout();
        return given != null ? given : sessionTimeout.dividedBy(3);
    }

    /**
     * Waits for the future, whatever its end, at most for the request time-out and as long as there is a connection. Keeps
     * the interrupt flag. Any thread.
     */
    @Override
    public void awaitWhileConnected(CompletableFuture<Void> future) {
        CompletableFuture<Void> over = new CompletableFuture<>();
        Runnable end = () -> over.complete(null);
        untilDisconnected.add(end);
        try {
            // Looked at afterwards: whoever takes the connection away first says so and then ends the waits.
            if (connectionState() == ConnectionState.CONNECTED) {
                Completion.on(future, (nothing, failure) -> end.run());
                Blocking.awaitQuietly(over, Deadline.after(requestTimeout(), scheduler));
            }
        } finally {
            untilDisconnected.remove(end);
        }
    }

    /** Requests for locks of others that are not over. */
    Revocations revocations() {
        return revocations;
    }

    public List<Session> livingSessions() {
        return List.copyOf(living);
    }

    @Override
    public void requireOpenFor(String lockPath) {
        if (closing.get()) {
            throw Requests.closedFor(lockPath);
        }
    }

    private void requireOpen() {
        if (closing.get()) {
            throw new ClientClosedException("the ZooKeeperClient is closed; make a new one");
        }
    }

    private void tellState(Session session, State state) {
        sessionId = session.zk().sessionId();
        if (session.timeoutNanos() > 0) {
            sessionTimeout = Duration.ofNanos(session.timeoutNanos());
            requestTimeout = requestTimeoutFor(sessionTimeout);
        }
        if (!closing.get()) { // the end of closing tells of itself
            boolean over = state == State.CLOSED && !sessions.renewsSessions();
            reporter.report(over ? ConnectionState.CLOSED : ConnectionReporter.of(state));
        }
        if (state == State.CONNECTED) {
            trouble.ifPresent(ConnectionTrouble::onConnected);
            connected.complete(true);
            return;
        }
        if (state != State.CONNECTING) {
            trouble.ifPresent(ConnectionTrouble::onDisconnected);
        }
        untilDisconnected.forEach(Runnable::run);
        if (connected.isDone() && !closing.get()) {
            connected = new CompletableFuture<>();
        }
    }

    private void onState(Session session, State state) {
        if (session == used) {
            tellState(session, state);
        }
        if (state.isFinal()) {
            living.remove(session);
            LockLog.sessionEnds(session.zk().sessionId(), state);
            if (state == State.AUTH_FAILED && !closing.get()) {
                log.warn(
                        "{}: the locks of session 0x{} are lost, and waiting acquires fail.",
                        ZooKeeperErrors.CREDENTIALS_REFUSED,
                        Long.toHexString(session.zk().sessionId()));
            } else if (!closing.get()) {
                log.warn(
                        "ZooKeeper session 0x{} has ended ({}): its locks are lost, waiting acquires {}.",
                        Long.toHexString(session.zk().sessionId()),
                        state,
                        sessions.ownsSessions() ? "queue again in the next session" : "need a new handle");
            }
            sessions.onEnded(session);
        }
        cleaner.wake();
    }

    // ---- The public part.

    @Override
    public ConnectionState connectionState() {
        return reporter.state();
    }

    @Override
    public void addConnectionListener(Consumer<ConnectionState> listener) {
        reporter.add(listener);
    }

    @Override
    public void removeConnectionListener(Consumer<ConnectionState> listener) {
        reporter.remove(listener);
    }

    @Override
    public boolean awaitConnected(Duration timeout) throws InterruptedException {
        Blocking.requireNotNegative(timeout);
        Blocking.requireMayBlock(scheduler);
        requireOpen();
        boolean isConnected =
                Blocking.await(connected, Deadline.after(timeout, scheduler)).orElse(false);
        requireOpen();
        return isConnected;
    }

    @Override
    public Optional<ZooKeeper> zooKeeper() {
        return handle;
    }

    @Override
    public String ownerLabel() {
        return settings.ownerLabel();
    }

    /** The session time-out, and the one that was asked for if the server granted another. */
    private String grantedTimeout() {
        Duration granted = sessionTimeout;
        boolean isOther = sessions.ownsSessions() && !granted.equals(settings.sessionTimeout());
        return " with a time-out of " + granted
                + (isOther ? ", while " + settings.sessionTimeout() + " was asked for" : "");
    }

    @Override
    public String toString() {
        long id = sessionId;
        return "ZooKeeperClient[" + servers + ", " + connectionState() + ", "
                + (id == 0 ? "no session yet" : "session 0x" + Long.toHexString(id) + grantedTimeout()) + ", owner "
                + ownerLabel() + "]";
    }

    @Override
    public void close() {
        if (closing.compareAndSet(false, true)) {
            requests.close();
            connected.complete(false);
            scheduler.execute(() -> new Shutdown(
                            requests,
                            revocations,
                            this::livingSessions,
                            sessions,
                            cleaner,
                            scheduler,
                            requestTimeout().dividedBy(2),
                            this::onShutDown)
                    .begin());
        }
        if (Blocking.mayBlock(scheduler)) {
            Blocking.awaitQuietly(closed, Deadline.after(requestTimeout(), scheduler));
        }
    }

    private void onShutDown() {
        pauseDetectors.values().forEach(PauseDetector::end);
        trouble.ifPresent(ConnectionTrouble::end);
        handle = Optional.empty();
        ShutdownHook registered = hook;
        if (registered != null) {
            registered.remove();
        }
        reporter.report(ConnectionState.CLOSED);
        callbacks.close();
        scheduler.close();
        closed.complete(null);
    }
}
