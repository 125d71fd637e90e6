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

/** The connection of the session in use. Sessions report to it on the engine thread; any thread may ask and wait. */
public final class ClientConnection {
    private final ClientSettings settings;
    private final EngineScheduler scheduler;
    private final Callbacks callbacks;
    private final BooleanSupplier closing;
    private final ConnectionTrouble trouble;
    private final HandleKind kind;
    private final Set<CompletableFuture<?>> untilDisconnected = ConcurrentHashMap.newKeySet(); // waits
    /** Completes when connected, with true, or closed, with false; a new one after every disconnect. */
    private volatile CompletableFuture<Boolean> connected = new CompletableFuture<>();

    private final List<Told> listeners = new CopyOnWriteArrayList<>();
    private volatile ConnectionState state = ConnectionState.CONNECTING;
    private volatile @Nullable Session used; // the one that was asked for last
    private volatile Duration sessionTimeout;
    private volatile Duration requestTimeout;
    private volatile Optional<ZooKeeper> handle = Optional.empty();
    private volatile long sessionId;

    /** A listener and the order of its calls: one that blocks does not delay the others. */
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
        this.requestTimeout = requestTimeoutFor(sessionTimeout);
    }

    /** Begins to look for the reason if there is no connection for long. Called before the first session. */
    void begin() {
        scheduler.execute(() -> trouble.watch(requestTimeout));
    }

    // ---- What sessions report.

    void use(Session session) {
        if (session != used && !session.isEnded()) {
            used = session;
            handle = session.zk().handle();
            trouble.onSession();
            tellState(session, session.state());
        }
    }

    void onState(Session session, State state) {
        if (session == used) {
            tellState(session, state);
        }
    }

    /** The login before a session has begun. */
    void logsIn() {
        trouble.onLogin();
    }

    /** There is no session, and none will be opened at once. */
    void onObstacle(Obstacle found) {
        if (!closing.getAsBoolean()) {
            trouble.onObstacle(found);
            if (found.kind() == Obstacle.Kind.IDENTITY) {
                report(ConnectionState.AUTH_FAILED);
            }
        }
    }

    /** Whether a server serves though there is no connection; of a handle of the application's it may be so. */
    boolean mayBeRefused() {
        return !kind.ownsSessions() || trouble.hasSeenAServer();
    }

    private void tellState(Session session, State next) {
        sessionId = session.zk().sessionId();
        if (session.timeoutNanos() > 0) {
            sessionTimeout = Duration.ofNanos(session.timeoutNanos());
            requestTimeout = requestTimeoutFor(sessionTimeout);
        }
        if (!closing.getAsBoolean()) { // the end of closing tells of itself
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
        untilDisconnected.forEach(wait -> wait.complete(null));
        if (connected.isDone() && !closing.getAsBoolean()) {
            connected = new CompletableFuture<>();
        }
        if (next.isFinal() && kind instanceof HandleKind.Wrapped) { // no other handle follows
            handle = Optional.empty();
            endWaits();
        }
    }

    /** Tells the application every change, once and in order. */
    void report(ConnectionState next) {
        if (state != next && state != ConnectionState.CLOSED) {
            state = next;
            listeners.forEach(
                    told -> told.inOrder().execute(() -> told.listener().accept(next)));
        }
    }

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

    // ---- What any thread asks.

    /** By the clock, as leases tell theirs: no later than a lease is lost, whatever the engine has come to. */
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
                .findFirst() // one of them, if it was added twice
                .ifPresent(listeners::remove);
    }

    public Optional<ZooKeeper> handle() {
        return handle;
    }

    Duration requestTimeout() {
        return requestTimeout;
    }

    private Duration requestTimeoutFor(Duration session) {
        Duration given = settings.requestTimeout();
        return given != null ? given : session.dividedBy(3);
    }

    public LockException missing(String consequence) {
        return trouble.error(consequence);
    }

    /** The servers, the state and the session. */
    String describe() {
        long id = sessionId;
        String servers =
                kind instanceof HandleKind.Opened opened ? opened.connectString() : "a handle of the application's";
        return servers + ", " + state + ", "
                + (id == 0 ? "no session yet" : "session 0x" + Long.toHexString(id) + grantedTimeout());
    }

    /** The session time-out, and the one that was asked for if the server granted another. */
    private String grantedTimeout() {
        Duration granted = sessionTimeout;
        boolean isOther = kind.ownsSessions() && !granted.equals(settings.sessionTimeout());
        return " with a time-out of " + granted
                + (isOther ? ", while " + settings.sessionTimeout() + " was asked for" : "");
    }

    // ---- Waiting.

    /** Waits for a connection or the end of the client, and returns whether there is one. */
    boolean await(Deadline deadline) throws InterruptedException {
        return Blocking.awaitAgain(connected, deadline).orElse(false);
    }

    /** Waits for its end, at most for the request time-out and while connected. Keeps the interrupt flag. */
    @SuppressWarnings("CollectionUndefinedEquality") // each is itself only
    public void awaitWhileConnected(CompletableFuture<Void> future) {
        CompletableFuture<Void> over = new CompletableFuture<>();
        untilDisconnected.add(over);
        try {
            // Looked at afterwards: a disconnect first changes the state and then ends the waits.
            if (state == ConnectionState.CONNECTED) {
                Completion.on(future, (nothing, failure) -> over.complete(null));
                Blocking.awaitQuietly(over, Deadline.after(requestTimeout, scheduler));
            }
        } finally {
            untilDisconnected.remove(over);
        }
    }

    // ---- The end.

    void endWaits() {
        connected.complete(false);
    }

    void end() {
        trouble.end();
        endWaits(); // a disconnect may have begun new ones when closing began
        handle = Optional.empty();
        report(ConnectionState.CLOSED);
        untilDisconnected.forEach(wait -> wait.complete(null));
    }
}
