// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.source;

import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.handle.Silence;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.thread.Pauses;
import dev.zkrecipes.core.internal.wire.Printable;
import dev.zkrecipes.core.internal.zk.HandleKind;
import dev.zkrecipes.core.internal.zk.ZooKeeperErrors;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sessions of handles that the application opens and replaces. The supplier is user code, which may block or throw, so
 * it is called on a thread of its own. One call at a time serves all waiting requests.
 *
 * <p>While the supplier throws, or returns a handle that has ended, it is called again after the pauses of a retry, as
 * long as a request waits or there is no session at all. A handle that was given up, see {@link Silence}, is not used
 * again: if the supplier returns it, waiting requests fail. Confined to the engine thread.
 */
public final class SuppliedSessions implements SessionSource {
    private static final Logger log = LoggerFactory.getLogger(SuppliedSessions.class);

    private final Supplier<ZooKeeper> supplier;
    private final Function<ZooKeeper, Session> factory;
    private final Consumer<Session> onUsed;
    private final EngineScheduler scheduler;
    private final Executor asker; // calls the supplier, one call at a time
    private final Pauses pauses;
    /**
     * Sessions by handle: those that are alive, and those that were given up although their handle still claims to be
     * alive.
     */
    private final IdentityHashMap<ZooKeeper, Session> known = new IdentityHashMap<>();

    private final Set<User> waiting = new LinkedHashSet<>();
    private @Nullable Timer retry; // calls the supplier again
    private int pausesSoFar; // since the last session was found
    private boolean asking; // whether a call of the supplier is under way
    private boolean failing; // whether the last call failed, which is logged once
    private boolean stopped;

    /**
     * {@code asker} runs the calls of the supplier, which may block. {@code onUsed} receives the session for new
     * requests.
     */
    public SuppliedSessions(
            Supplier<ZooKeeper> supplier,
            Executor asker,
            Function<ZooKeeper, Session> factory,
            Consumer<Session> onUsed,
            EngineScheduler scheduler,
            Pauses pauses) {
        this.supplier = supplier;
        this.asker = asker;
        this.factory = factory;
        this.onUsed = onUsed;
        this.scheduler = scheduler;
        this.pauses = pauses;
    }

    @Override
    public void start() {
        ask();
    }

    @Override
    public void request(User user) {
        waiting.add(user);
        ask();
    }

    @Override
    public void forget(User user) {
        waiting.remove(user);
    }

    @Override
    public void onEnded(Session ended) {
        ask();
    }

    @Override
    public void stop() {
        stopped = true;
    }

    /** Calls the supplier, unless a call is under way. */
    private void ask() {
        if (asking || stopped) {
            return;
        }
        asking = true;
        if (retry != null) {
            retry.cancel();
            retry = null;
        }
        asker.execute(() -> {
            try {
                ZooKeeper handle = supplier.get();
                HandleKind.requireUsable(handle);
                scheduler.execute(() -> onHandle(handle));
            } catch (Throwable t) { // of the application's code
                // An exception may be temporary, as while a handle is replaced. An error means a broken supplier.
                scheduler.execute(() -> onFailure(t, t instanceof Error));
            }
        });
    }

    /** Uses the handle that the supplier has returned. A handle that was seen before keeps its session. */
    private void onHandle(ZooKeeper handle) {
        asking = false;
        if (stopped) {
            return;
        }
        Session session;
        try {
            known.keySet().removeIf(old -> !old.getState().isAlive());
            session = handle.getState().isAlive() ? known.computeIfAbsent(handle, factory) : null;
        } catch (RuntimeException e) {
            onFailure(e, false);
            return;
        }
        if (session == null && handle.getState() == ZooKeeper.States.AUTH_FAILED) {
            // Not for good: the application may be about to replace the handle, and the server keeps the nodes of its
            // session, which are to be deleted in the next one.
            onFailure(ZooKeeperErrors.credentialsRefused("its handle cannot be used"), false);
        } else if (session == null || (session.state() == State.EXPIRED && !session.isGivenUp())) {
            // The application is about to replace the handle, which may not know of the end of its session yet.
            failing = false;
            Object ended = session == null ? handle.getState() : session.state();
            tell(new IllegalStateException("the handle that it returned is " + ended), false);
            askLater();
        } else if (session.state() == State.AUTH_FAILED) {
            onFailure(ZooKeeperErrors.credentialsRefused("its handle cannot be used"), true);
        } else if (session.isEnded()) {
            onFailure(
                    new IllegalStateException("no server has answered its session 0x"
                            + Long.toHexString(handle.getSessionId())
                            + " for so long that it was given up; close that handle and return a new one"),
                    true);
        } else {
            failing = false;
            pausesSoFar = 0;
            onUsed.accept(session);
            List<User> served = List.copyOf(waiting);
            waiting.clear();
            served.forEach(user -> user.with(session));
        }
    }

    private void onFailure(Throwable failure, boolean isForGood) {
        asking = false;
        if (!failing) {
            failing = true;
            log.warn("The supplier gave no ZooKeeper handle that locks can use; asking again until it does.", failure);
        }
        tell(failure, isForGood);
        askLater();
    }

    /** Fails the waiting requests if the failure is for good, and otherwise tells them why they have to wait. */
    private void tell(Throwable failure, boolean isForGood) {
        for (User user : List.copyOf(waiting)) {
            LockException why = failure instanceof LockAccessException
                    ? ZooKeeperErrors.credentialsRefused("the lock " + user.lockPath()
                            + " cannot be used; close the handle that the supplier returned, and return a new one")
                    : new LockConnectionException(
                            "the lock " + user.lockPath()
                                    + ": the supplier gave no ZooKeeper handle that locks can use: "
                                    + Printable.of(String.valueOf(failure)) + "; fix the supplier or try again",
                            failure);
            if (isForGood) {
                waiting.remove(user);
                user.unavailable(why);
            } else {
                user.notNow(why);
            }
        }
    }

    /** Calls the supplier again after a pause, if a request waits or all sessions have ended. */
    private void askLater() {
        if (!waiting.isEmpty() || known.values().stream().allMatch(Session::isEnded)) {
            retry = pauses.begin(pausesSoFar++, this::ask);
        }
    }
}
