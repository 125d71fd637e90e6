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
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sessions of a client: where they come from, which of them are alive, and what is logged about them. The client
 * opens its sessions itself, or uses those of handles that the application supplies.
 *
 * <p>Confined to the engine thread, except for {@link #living()}.
 */
final class ClientSessions {
    private static final Logger log = LoggerFactory.getLogger(ClientSessions.class);

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
     * {@code connection} is notified first of each session and of each change of its state; then {@code onChange} runs.
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

    /** Returns the source from which requests get their sessions. */
    SessionSource source() {
        return source;
    }

    private SessionSource sourceOf(Pauses pauses) {
        if (kind instanceof HandleKind.Opened opened) {
            return opened(() -> loginTo(opened), told -> OpenedHandle.open(opened, settings, scheduler, told));
        } else if (kind instanceof HandleKind.Wrapped wrapped) {
            return new WrappedSession(() -> session(told -> WrappedHandle.open(wrapped.handle(), scheduler, told)));
        } else if (kind instanceof HandleKind.Supplied supplied) {
            return new SuppliedSessions(
                    supplied.supplier(),
                    task -> EngineThreads.start("zkrecipes-supplier-", task),
                    found -> session(told -> WrappedHandle.open(found, scheduler, told)),
                    connection::use,
                    scheduler,
                    pauses);
        } else {
            return opened(Optional::empty, ((HandleKind.Simulated) kind).factory());
        }
    }

    /**
     * Returns a source of sessions that the client opens itself. The pauses between attempts grow to
     * {@link OpenedSessions#LONGEST_PAUSE}, whatever limit the application has set for the pauses of requests.
     */
    private OpenedSessions opened(Supplier<Optional<SaslLogin>> login, ZooKeeperOperations.Factory factory) {
        return new OpenedSessions(
                login,
                connection::logsIn,
                () -> session(factory),
                connection::onObstacle,
                new Pauses(scheduler, settings.firstRetryDelay(), OpenedSessions.LONGEST_PAUSE),
                scheduler);
    }

    /**
     * Returns the SASL login that precedes a session; empty if the configuration requires none. Returns a new login
     * each time, because the servers may have changed.
     */
    private Optional<SaslLogin> loginTo(HandleKind.Opened servers) {
        SaslLogin login = new SaslLogin(settings.clientConfig(), ConnectString.servers(servers.connectString()));
        return login.isWanted() ? Optional.of(login) : Optional.empty();
    }

    /** Moves the living sessions, and all later ones, to other servers. */
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

    /** Returns the sessions that have not ended. May be called from any thread. */
    List<Session> living() {
        return List.copyOf(living);
    }

    /**
     * Opens a session. All receivers of its state are registered before it begins, because it may already be connected.
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
        connection.use(session); // last, because it takes over the current state of the session
        return session;
    }

    /**
     * Notifies the connection before the source of sessions, so that an application learns of the end of one session
     * before it learns of the next one.
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
        // On a handle of the application's, it is not known which time-out was requested.
        LockLog.sessionBegins(id, kind.ownsSessions() ? settings.sessionTimeout() : granted, granted);
    }

    /**
     * Logs how a session ended. While the client is being closed, the end is expected, and there is no warning. A
     * refusal of the credentials is logged as an obstacle, and so at most once a minute. It is no obstacle to requests
     * if they get the session of another handle by now.
     */
    private void logEnd(Session session, State state) {
        LockLog.sessionEnds(session.zk().sessionId(), state);
        if (closing.getAsBoolean()) {
            return;
        }
        String id = Long.toHexString(session.zk().sessionId());
        if (state == State.AUTH_FAILED && connection.isUsed(session)) {
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
