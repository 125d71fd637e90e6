// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.client;

import dev.zkrecipes.core.internal.handle.Containers;
import dev.zkrecipes.core.internal.hold.LockLog;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.source.OpenedSessions;
import dev.zkrecipes.core.internal.source.SessionSource;
import dev.zkrecipes.core.internal.source.SuppliedSessions;
import dev.zkrecipes.core.internal.source.WrappedSession;
import dev.zkrecipes.core.internal.thread.EngineThreads;
import dev.zkrecipes.core.internal.thread.Pauses;
import dev.zkrecipes.core.internal.zk.ClientSettings;
import dev.zkrecipes.core.internal.zk.ConnectString;
import dev.zkrecipes.core.internal.zk.HandleKind;
import dev.zkrecipes.core.internal.zk.Obstacle;
import dev.zkrecipes.core.internal.zk.OpenedHandle;
import dev.zkrecipes.core.internal.zk.SaslLogin;
import dev.zkrecipes.core.internal.zk.WrappedHandle;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sessions of a client: where they come from, which of them live, and what is logged of their ends. The client
 * opens its sessions itself, or they are those of handles that the application gives to it.
 *
 * <p>Confined to the engine thread, except for {@link #living()}.
 */
final class ClientSessions {
    private static final Logger log = LoggerFactory.getLogger(ClientSessions.class);

    // A simulation does not log in anywhere.
    private static final OpenedSessions.Login NO_LOGIN = new OpenedSessions.Login() {
        @Override
        public boolean isWanted() {
            return false;
        }

        @Override
        public void then(Consumer<Optional<Obstacle>> next) {
            next.accept(Optional.empty());
        }
    };

    // Added to the warning of a session's end if the session was given up because no server answered it.
    private static final String LOST_DATA =
            " If servers serve, they have lost data and know less than this session has seen, or a thread of ZooKeeper's"
                    + " client has died: look for a restored or empty data directory, and for an earlier error of this"
                    + " process.";

    private final HandleKind kind;
    private final ClientSettings settings;
    private final EngineScheduler scheduler;
    private final ClientConnection connection;
    private final BooleanSupplier closing;
    private final Runnable onChange; // after each change of a session's state
    private final Runnable onBeat;
    private final SessionSource source;
    private final Containers containers;
    private final Set<Session> living = ConcurrentHashMap.newKeySet(); // those that have not ended

    /**
     * {@code connection} hears first of each session and of each change of its state; then {@code onChange} runs.
     * {@code onBeat} runs as often as {@link Session#onBeat} says.
     */
    ClientSessions(
            HandleKind kind,
            ClientSettings settings,
            EngineScheduler scheduler,
            ClientConnection connection,
            Pauses pauses,
            BooleanSupplier closing,
            Runnable onChange,
            Runnable onBeat) {
        this.kind = kind;
        this.settings = settings;
        this.scheduler = scheduler;
        this.connection = connection;
        this.closing = closing;
        this.onChange = onChange;
        this.onBeat = onBeat;
        this.containers = new Containers(settings.persistentPaths(), scheduler);
        this.source = sourceOf(pauses);
    }

    /** Where requests get their sessions from. */
    SessionSource source() {
        return source;
    }

    private SessionSource sourceOf(Pauses pauses) {
        if (kind instanceof HandleKind.Opened opened) {
            return opened(loginFor(opened), told -> OpenedHandle.open(opened, settings, scheduler, told));
        } else if (kind instanceof HandleKind.Wrapped wrapped) {
            return new WrappedSession(() -> session(told -> WrappedHandle.open(wrapped.handle(), scheduler, told)));
        } else if (kind instanceof HandleKind.Supplied supplied) {
            return new SuppliedSessions(
                    supplied.supplier(),
                    EngineThreads.supplier(),
                    found -> session(told -> WrappedHandle.open(found, scheduler, told)),
                    connection::use,
                    scheduler,
                    pauses);
        } else {
            return opened(NO_LOGIN, ((HandleKind.Simulated) kind).factory());
        }
    }

    /**
     * Sessions that the client opens itself. The pauses between attempts grow to
     * {@link OpenedSessions#LONGEST_PAUSE}, whatever limit the application has set for the pauses of requests.
     */
    private OpenedSessions opened(OpenedSessions.Login login, ZooKeeperOperations.Factory factory) {
        return new OpenedSessions(
                login,
                () -> session(factory),
                connection::onObstacle,
                new Pauses(scheduler, settings.firstRetryDelay(), OpenedSessions.LONGEST_PAUSE),
                scheduler);
    }

    /**
     * The SASL login that comes before a session is opened, if the configuration asks for one. It may block for long,
     * so it runs on a thread of its own.
     */
    private OpenedSessions.Login loginFor(HandleKind.Opened servers) {
        return new OpenedSessions.Login() {
            /** A new one each time, as the servers may have changed since. */
            private SaslLogin login() {
                return new SaslLogin(settings.clientConfig(), ConnectString.servers(servers.connectString()));
            }

            @Override
            public boolean isWanted() {
                return login().isWanted();
            }

            @Override
            public void then(Consumer<Optional<Obstacle>> next) {
                SaslLogin login = login();
                if (!login.isWanted()) {
                    next.accept(Optional.empty());
                    return;
                }
                connection.logsIn();
                EngineThreads.start("zkrecipes-login-", () -> {
                    Optional<Obstacle> trouble = login.trouble();
                    // On the engine's own thread, because the threads of a handle inherit from the one that opens it.
                    scheduler.handOver(() -> next.accept(trouble));
                });
            }
        };
    }

    /** Moves to other servers, in the sessions that live and in all later ones. */
    void use(HandleKind.Opened servers, String connectString) {
        servers.use(connectString);
        living().forEach(session -> session.zk().handle().ifPresent(handle -> {
            try {
                handle.updateServerList(connectString);
            } catch (IOException e) {
                log.warn(
                        "ZooKeeper's client could not leave its server for {}; it goes there with its next connection.",
                        connectString,
                        e);
            }
        }));
    }

    /** The sessions that have not ended. Any thread may ask. */
    List<Session> living() {
        return List.copyOf(living);
    }

    /**
     * Opens a session. All who hear of its state are registered before it begins, since it may be connected already.
     */
    private Session session(ZooKeeperOperations.Factory factory) {
        Session session = new Session(
                factory,
                scheduler,
                containers,
                settings.sessionTimeout(),
                settings.longestRetryDelay(),
                kind.ownsSessions(),
                this::onState);
        living.add(session);
        session.onTakenForLost(() -> connection.onState(session, session.state()));
        session.onBeat(onBeat);
        session.begin();
        connection.use(session); // last: it takes over the state that the session has then
        return session;
    }

    /**
     * Tells the connection before the source of sessions: an application hears of the end of one session before it
     * hears of the next one.
     */
    private void onState(Session session, State state) {
        if (state == State.CONNECTED) {
            logConnection(session);
        } else if (!state.isFinal() && session.connection() > 0 && !closing.getAsBoolean()) {
            LockLog.sessionIsConnected(session.zk().sessionId(), false);
        }
        connection.onState(session, state);
        if (state.isFinal()) {
            living.remove(session);
            logEnd(session, state);
            source.onEnded(session);
        }
        onChange.run();
    }

    private void logConnection(Session session) {
        long id = session.zk().sessionId();
        if (session.connection() > 1) {
            LockLog.sessionIsConnected(id, true);
            return;
        }
        Duration granted = Duration.ofNanos(session.timeoutNanos());
        // On a handle of the application's, it is not known which time-out was asked for.
        LockLog.sessionBegins(id, kind.ownsSessions() ? settings.sessionTimeout() : granted, granted);
    }

    /**
     * Logs how a session ended. While the client is being closed, the end is expected, and there is no warning. A
     * refusal of the credentials is logged as an obstacle, and so at most once a minute.
     */
    private void logEnd(Session session, State state) {
        LockLog.sessionEnds(session.zk().sessionId(), state);
        if (closing.getAsBoolean()) {
            return;
        }
        String id = Long.toHexString(session.zk().sessionId());
        if (state == State.AUTH_FAILED) {
            connection.onObstacle(Obstacle.REFUSED);
        } else {
            log.warn(
                    "ZooKeeper session 0x{} has ended ({}): its locks are lost, waiting acquires {}.{}",
                    id,
                    state,
                    kind.ownsSessions() ? "queue again in the next session" : "need a new handle",
                    session.isGivenUp() && connection.mayBeRefused() ? LOST_DATA : "");
        }
    }
}
