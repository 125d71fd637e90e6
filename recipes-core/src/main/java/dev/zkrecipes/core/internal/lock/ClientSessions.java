// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.internal.node.LockLog;
import dev.zkrecipes.core.internal.session.Containers;
import dev.zkrecipes.core.internal.session.OpenedSessions;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.session.SessionSource;
import dev.zkrecipes.core.internal.session.SuppliedSessions;
import dev.zkrecipes.core.internal.session.WrappedSession;
import dev.zkrecipes.core.internal.thread.EngineThreads;
import dev.zkrecipes.core.internal.thread.Pauses;
import dev.zkrecipes.core.internal.zk.ClientSettings;
import dev.zkrecipes.core.internal.zk.HandleKind;
import dev.zkrecipes.core.internal.zk.OpenedHandle;
import dev.zkrecipes.core.internal.zk.WrappedHandle;
import dev.zkrecipes.core.internal.zk.ZooKeeperErrors;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The sessions of a client: how each is opened, which of them live, and what is logged of their ends. */
final class ClientSessions {
    private static final Logger log = LoggerFactory.getLogger(ClientSessions.class);

    private final HandleKind kind;
    private final ClientSettings settings;
    private final EngineScheduler scheduler;
    private final ClientConnection connection;
    private final BooleanSupplier closing;
    private final Runnable onChange;
    final SessionSource source;
    private final Containers containers;
    private final Set<Session> living = ConcurrentHashMap.newKeySet();

    /** The connection is told of each session, and of each change of its state; then {@code onChange} runs. */
    ClientSessions(
            HandleKind kind,
            ClientSettings settings,
            EngineScheduler scheduler,
            ClientConnection connection,
            Pauses pauses,
            BooleanSupplier closing,
            Runnable onChange) {
        this.kind = kind;
        this.settings = settings;
        this.scheduler = scheduler;
        this.connection = connection;
        this.closing = closing;
        this.onChange = onChange;
        this.containers = new Containers(settings.persistentPaths(), scheduler);
        this.source = sourceOf(pauses);
    }

    private SessionSource sourceOf(Pauses pauses) {
        if (kind instanceof HandleKind.Opened opened) {
            return new OpenedSessions(
                    () -> session(told -> OpenedHandle.open(opened, settings, scheduler, told)), pauses, scheduler);
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
            ZooKeeperOperations.Factory factory = ((HandleKind.Simulated) kind).factory();
            return new OpenedSessions(() -> session(factory), pauses, scheduler);
        }
    }

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

    List<Session> living() {
        return List.copyOf(living);
    }

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
        session.onGivenUp(() -> connection.onState(session, session.state()));
        session.begin();
        connection.use(session);
        return session;
    }

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
        LockLog.sessionBegins(id, kind.ownsSessions() ? settings.sessionTimeout() : granted, granted);
    }

    private void logEnd(Session session, State state) {
        LockLog.sessionEnds(session.zk().sessionId(), state);
        if (closing.getAsBoolean()) {
            return;
        }
        String id = Long.toHexString(session.zk().sessionId());
        if (state == State.AUTH_FAILED) {
            log.warn(
                    "{}: the locks of session 0x{} are lost, and waiting acquires fail.",
                    ZooKeeperErrors.CREDENTIALS_REFUSED,
                    id);
        } else {
            log.warn(
                    "ZooKeeper session 0x{} has ended ({}): its locks are lost, waiting acquires {}.",
                    id,
                    state,
                    kind.ownsSessions() ? "queue again in the next session" : "need a new handle");
        }
    }
}
