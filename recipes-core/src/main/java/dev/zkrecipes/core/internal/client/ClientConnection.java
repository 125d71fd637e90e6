// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.client;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.diagnosis.ConnectionTrouble;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.thread.Blocking;
import dev.zkrecipes.core.internal.thread.Callbacks;
import dev.zkrecipes.core.internal.thread.Completion;
import dev.zkrecipes.core.internal.thread.Deadline;
import dev.zkrecipes.core.internal.zk.ClientSettings;
import dev.zkrecipes.core.internal.zk.HandleKind;
import dev.zkrecipes.core.internal.zk.Obstacle;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/**
 * The connection of a client as the application sees it, which is that of the session in use. Sessions report to this
 * class on the engine thread; any thread may query the state or wait for a connection.
 *
 * <p>{@link ConnectionTrouble} finds out why there is no connection, and creates the errors.
 */
public final class ClientConnection {
    private final ClientSettings settings;
    private final EngineScheduler scheduler;
    private final Callbacks callbacks;
    private final BooleanSupplier closing; // whether the client is being closed
    private final ConnectionTrouble trouble;
    private final HandleKind kind;
    // Waits that are useless without a connection. A disconnect completes them.
    private final Set<CompletableFuture<?>> untilDisconnected = ConcurrentHashMap.newKeySet();
    /** Completes with true once connected, with false once closed. A new future replaces it after every disconnect. */
    private volatile CompletableFuture<Boolean> connected = new CompletableFuture<>();

    private final List<Told> listeners = new CopyOnWriteArrayList<>();
    private volatile ConnectionState state = ConnectionState.CONNECTING;
    private volatile @Nullable Session used; // the session that new requests get
    private volatile Duration sessionTimeout; // as configured, until a server has granted one

    /**
     * A listener, with an executor that keeps its calls in order. As each listener has an executor of its own, a
     * listener that blocks does not delay the others.
     */
    private record Told(Consumer<ConnectionState> listener, Executor inOrder) {}

    ClientConnection(
            HandleKind kind,
            ClientSettings settings,
            EngineScheduler scheduler,
            Callbacks callbacks,
            BooleanSupplier closing) {
        this.settings = settings;
        this.scheduler = scheduler;
        this.callbacks = callbacks;
        this.closing = closing;
        this.trouble = new ConnectionTrouble(kind, settings.clientConfig(), scheduler);
        this.kind = kind;
        this.sessionTimeout = settings.sessionTimeout();
    }

    /**
     * From now on, looks for the reason whenever there is no connection for long. Called before the first session is
     * opened.
     */
    void begin() {
        scheduler.execute(() -> trouble.watch(requestTimeout()));
    }

    // ---- What sessions report.

    /** Makes this session the one in use, and its state the client's, unless the session has already ended. */
    void use(Session session) {
        if (session != used && !session.isEnded()) {
            used = session;
            trouble.onSession();
            tellState(session, session.state());
        }
    }

    /** Whether this session is the one in use. */
    boolean isUsed(Session session) {
        return session == used;
    }

    /** Called when the state of a session has changed. Only the session in use counts. */
    void onState(Session session, State state) {
        if (session == used) {
            tellState(session, state);
        } else {
            tellWaits(); // leases of a former handle of the application's may be on their way back
        }
    }

    /** Called when a login has begun. A login precedes the session, and may take long. */
    void logsIn() {
        trouble.onLogin();
    }

    /**
     * Called when there is no session and no other one is opened at once. If the identity of the client is the
     * obstacle, the state shows that, too.
     */
    void onObstacle(Obstacle found) {
        if (!closing.getAsBoolean()) {
            trouble.onObstacle(found);
            if (found.kind() == Obstacle.Kind.IDENTITY) {
                report(ConnectionState.AUTH_FAILED);
            }
        }
    }

    /**
     * Whether servers may be serving although there is no connection. For sessions of our own, only a check of the
     * servers shows that. The servers of the application's handles are not checked, so there it is always possible.
     */
    boolean mayBeRefused() {
        return !kind.ownsSessions() || trouble.hasSeenAServer();
    }

    /**
     * Shows the state of the session in use to the application and to threads that wait. A session that is taken for
     * lost counts as disconnected until a committed write shows that it is alive.
     */
    private void tellState(Session session, State next) {
        if (session.timeoutNanos() > 0) {
            sessionTimeout = Duration.ofNanos(session.timeoutNanos());
        }
        if (!closing.getAsBoolean()) { // at its end, a closed client reports CLOSED itself
            boolean over = next == State.CLOSED && kind instanceof HandleKind.Wrapped; // no other handle follows
            report(over ? ConnectionState.CLOSED : shown(next, session));
        }
        if (next == State.CONNECTED && !session.isTakenForLost()) {
            trouble.onConnected();
            connected.complete(true);
            return;
        }
        if (next != State.CONNECTING) {
            trouble.onDisconnected();
        }
        tellWaits();
        if (connected.isDone() && !closing.getAsBoolean()) {
            connected = new CompletableFuture<>();
        }
        if (next.isFinal() && kind instanceof HandleKind.Wrapped) { // no other handle follows
            endWaits();
        }
    }

    /** Has the waits that are useless without a connection look whether they still have one. */
    private void tellWaits() {
        untilDisconnected.forEach(wait -> wait.complete(null));
    }

    /** Notifies every listener of a change, once and in order. Nothing is reported after CLOSED. */
    void report(ConnectionState next) {
        if (state != next && state != ConnectionState.CLOSED) {
            state = next;
            listeners.forEach(told -> told.inOrder().execute(() -> {
                if (listeners.contains(told)) { // it may have been removed before its turn came
                    told.listener().accept(next);
                }
            }));
        }
    }

    /**
     * Returns what the application sees of a session. A session whose handle somebody else has closed counts as
     * expired.
     */
    private static ConnectionState shown(State state, Session session) {
        return switch (state) {
            case CONNECTING -> ConnectionState.CONNECTING;
            case CONNECTED -> session.isTakenForLost() ? ConnectionState.EXPIRED : ConnectionState.CONNECTED;
            case READ_ONLY, DISCONNECTED ->
                session.isTakenForLost() ? ConnectionState.EXPIRED : ConnectionState.SUSPENDED;
            case EXPIRED, CLOSED -> ConnectionState.EXPIRED;
            case AUTH_FAILED -> ConnectionState.AUTH_FAILED;
        };
    }

    // ---- Queries from any thread.

    /**
     * Returns the state at this moment. It depends on the clock, as the states of leases do: once leases are lost
     * because their session is taken for lost, this returns EXPIRED, even if the engine is late.
     */
    public ConnectionState state() {
        ConnectionState told = state;
        Session session = used;
        boolean mayBeLost = told == ConnectionState.CONNECTED || told == ConnectionState.SUSPENDED;
        return mayBeLost && session != null && session.isTakenForLost() ? ConnectionState.EXPIRED : told;
    }

    public void addListener(Consumer<ConnectionState> listener) {
        listeners.add(new Told(listener, callbacks.sequential()));
    }

    public void removeListener(Consumer<ConnectionState> listener) {
        listeners.stream()
                .filter(told -> told.listener().equals(listener))
                .findFirst() // only once, if it was added twice
                .ifPresent(listeners::remove);
    }

    /**
     * Returns the handle of the session in use; empty before the first session, and once there will be no other handle.
     */
    public Optional<ZooKeeper> handle() {
        Session session = used;
        if (session == null
                || state == ConnectionState.CLOSED
                || (session.isEnded() && kind instanceof HandleKind.Wrapped)) {
            return Optional.empty();
        }
        return session.zk().handle();
    }

    /** Returns how long a call waits for one answer: as configured, or a third of the session time-out. */
    Duration requestTimeout() {
        Duration given = settings.requestTimeout();
        return given != null ? given : Duration.ofNanos(sessionTimeout.toNanos() / 3);
    }

    /**
     * Returns an error that says that the connection is missing and, if that is known, why. {@code consequence} says
     * what follows.
     */
    public LockException missing(String consequence) {
        return trouble.error(consequence);
    }

    /**
     * Returns only the reason why the connection is missing; empty if there is a connection or the reason is not known.
     */
    public Optional<LockException> trouble() {
        return trouble.reason();
    }

    /** Names the servers, the state and the session, for people to read. */
    String describe() {
        Session session = used;
        long id = session == null ? 0 : session.zk().sessionId();
        String servers =
                kind instanceof HandleKind.Opened opened ? opened.connectString() : "a handle of the application's";
        return servers + ", " + state + ", "
                + (id == 0 ? "no session yet" : "session 0x" + Long.toHexString(id) + grantedTimeout());
    }

    /** Returns the session time-out, and the requested one if the server has granted another. */
    private String grantedTimeout() {
        Duration granted = sessionTimeout;
        boolean isOther = kind.ownsSessions() && !granted.equals(settings.sessionTimeout());
        return " with a time-out of " + granted
                + (isOther ? ", while " + settings.sessionTimeout() + " was asked for" : "");
    }

    // ---- Waiting.

    /** Waits for a connection or the end of the client. Returns whether there is a connection. */
    boolean await(Deadline deadline) throws InterruptedException {
        return Blocking.awaitAgain(connected, deadline).orElse(false);
    }

    /**
     * Waits until the future has ended, for the request time-out at most, and only while there is a connection, since
     * no answer can come without one. Interruptions do not end the wait, and the thread keeps its flag.
     */
    public void awaitWhileConnected(CompletableFuture<Void> future) {
        awaitWhileConnected(null, future, Deadline.after(requestTimeout(), scheduler));
    }

    /**
     * Waits as {@link #awaitWhileConnected(CompletableFuture)} does, but until the deadline. The answer comes on the
     * connection of this session, which may be that of a former handle; null for the session in use.
     */
    @SuppressWarnings("CollectionUndefinedEquality") // each is equal to itself only
    public void awaitWhileConnected(@Nullable Session session, CompletableFuture<Void> future, Deadline by) {
        do {
            CompletableFuture<Void> over = new CompletableFuture<>();
            untilDisconnected.add(over);
            try {
                // Checked after the wait is registered: a disconnect first changes the state and then ends the waits.
                if (!isConnected(session)) {
                    return;
                }
                Completion.on(future, (nothing, failure) -> over.complete(null));
                Blocking.awaitQuietly(over, by);
            } finally {
                untilDisconnected.remove(over);
            }
        } while (!future.isDone() && by.remainingNanos() > 0);
    }

    /** Whether the session has a connection; once it has ended, whether the session in use has one. */
    private boolean isConnected(@Nullable Session session) {
        if (session == null || session == used || session.isEnded()) {
            return state == ConnectionState.CONNECTED;
        }
        return session.isConnected() && !session.isTakenForLost();
    }

    // ---- The end.

    /** Ends the waits for a connection, because the client is being closed or there will be no other handle. */
    void endWaits() {
        connected.complete(false);
    }

    /** Called when the client has ended. Completes every wait that is left, and reports CLOSED. */
    void end() {
        trouble.end();
        endWaits(); // a disconnect may have replaced the future after the close had completed it
        report(ConnectionState.CLOSED);
        tellWaits();
    }
}
