// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.source;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.thread.EngineThreads;
import dev.zkrecipes.core.internal.thread.Pauses;
import dev.zkrecipes.core.internal.zk.Obstacle;
import dev.zkrecipes.core.internal.zk.OpenedHandle;
import dev.zkrecipes.core.internal.zk.SaslLogin;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Opens the sessions of a client that has handles of its own: the first one, and the next one as soon as a session has
 * ended. If the client has to log in, it does so before each handle is opened. Otherwise ZooKeeper's client would log
 * in by itself and, if that failed, would only log the failure and continue without an identity.
 *
 * <p>After a failure there is a pause before the next attempt. Each pause is twice as long as the one before, up to
 * {@link #LONGEST_PAUSE}. Requests wait if the trouble may pass by itself. If only the user can fix the cause, waiting
 * requests fail, and so do requests made during the pause.
 *
 * <p>A server may accept the connection of a session and then refuse its credentials. If there was no login, the next
 * session is opened only when a request needs one, because only a request shows whether the server accepts the
 * credentials. Confined to the engine thread.
 */
public final class OpenedSessions implements SessionSource {
    /** The longest pause between two attempts. If a session lasts this long, the pauses after it start short again. */
    public static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

    private final Supplier<Optional<SaslLogin>> login;
    private final Runnable onLogin;
    private final Supplier<Session> factory;
    private final Consumer<Obstacle> onFailure;
    private final Pauses pauses;
    private final EngineScheduler scheduler;
    private final Set<User> waiting = new LinkedHashSet<>(); // in the order of their requests
    private @Nullable Session session; // null between two sessions
    private @Nullable Timer retry; // set during a pause
    private @Nullable Obstacle obstacle; // why there is no session, if the last attempt has failed
    private int pausesSoFar; // since the last session that lasted
    private long openedAt;
    private boolean opening; // whether a login or an attempt to open a session is under way
    private boolean stopped;

    /**
     * {@code login} returns the login to perform before a session is opened; empty if the configuration requires none.
     * {@code onLogin} runs when a login begins. {@code onFailure} is told of a failed attempt before any request is.
     * {@code pauses} must be no longer than {@link #LONGEST_PAUSE}.
     */
    public OpenedSessions(
            Supplier<Optional<SaslLogin>> login,
            Runnable onLogin,
            Supplier<Session> factory,
            Consumer<Obstacle> onFailure,
            Pauses pauses,
            EngineScheduler scheduler) {
        this.login = login;
        this.onLogin = onLogin;
        this.factory = factory;
        this.onFailure = onFailure;
        this.pauses = pauses;
        this.scheduler = scheduler;
    }

    /**
     * Opens a session, unless an attempt is under way. The handle is opened on a thread of the engine's own, because
     * ZooKeeper's threads inherit class loader, priority and thread-locals from the thread that opens it.
     */
    @Override
    public void start() {
        if (!opening) {
            opening = true;
            scheduler.handOver(this::logIn);
        }
    }

    private void logIn() {
        if (!stopped) {
            login.get().ifPresentOrElse(this::openAfter, () -> open(Optional.empty()));
        }
    }

    /** Logs in on a thread of its own, because that may block for long. */
    private void openAfter(SaslLogin wanted) {
        onLogin.run();
        EngineThreads.start("zkrecipes-login-", () -> {
            Optional<Obstacle> trouble = wanted.trouble();
            scheduler.handOver(() -> open(trouble));
        });
    }

    /** Opens the handle, unless the login has failed or the client was closed meanwhile. */
    private void open(Optional<Obstacle> found) {
        opening = false;
        if (stopped || session != null) {
            return;
        }
        Optional<Obstacle> trouble = found;
        if (trouble.isEmpty()) {
            openedAt = scheduler.nanoTime();
            try {
                session = factory.get();
            } catch (RuntimeException e) {
                trouble = Optional.of(OpenedHandle.obstacle(e));
            }
        }
        trouble.ifPresentOrElse(this::fail, this::serve);
    }

    /** Answers the requests that have waited for a session. */
    private void serve() {
        obstacle = null;
        List<User> served = List.copyOf(waiting);
        waiting.clear();
        served.forEach(this::request);
    }

    /** Begins the pause, and tells the waiting requests why there is no session. */
    private void fail(Obstacle found) {
        onFailure.accept(found);
        pauseThen(found, this::start);
        List<User> told = List.copyOf(waiting);
        if (found.isForGood()) {
            waiting.clear();
        }
        told.forEach(user -> tell(user, found));
    }

    /** Schedules the next step after a pause. A request that is made meanwhile gets to know the obstacle at once. */
    private void pauseThen(Obstacle found, Runnable next) {
        obstacle = found;
        retry = pauses.begin(pausesSoFar++, () -> {
            retry = null;
            next.run();
        });
    }

    /**
     * Fails a request if the obstacle is for good. Otherwise tells it the reason, and the request continues to wait.
     */
    private static void tell(User user, Obstacle found) {
        LockException why = found.error(": the lock " + user.lockPath() + " cannot be acquired");
        if (found.isForGood()) {
            user.unavailable(why);
        } else {
            user.notNow(why);
        }
    }

    @Override
    public void request(User user) {
        Session current = session;
        Obstacle known = opening ? null : obstacle; // a new attempt may succeed, so wait for its outcome
        if (current != null) {
            user.with(current);
        } else if (known != null && known.isForGood()) {
            tell(user, known);
        } else if (waiting.add(user)) {
            if (known != null) {
                tell(user, known);
            } else if (retry == null) {
                start();
            }
        }
    }

    @Override
    public void forget(User user) {
        waiting.remove(user);
    }

    /**
     * Opens the next session, at once unless the server refused the last one. A refused session is followed by a pause,
     * and then by a new attempt if the session never had a connection, or if another login may give other credentials.
     * Otherwise the next request after the pause starts the attempt.
     */
    @Override
    public void onEnded(Session ended) {
        if (session != ended) {
            return;
        }
        session = null;
        boolean isRefused = ended.state() == State.AUTH_FAILED;
        if (!isRefused || scheduler.nanoTime() - openedAt >= LONGEST_PAUSE.toNanos()) {
            pausesSoFar = 0;
        }
        if (!isRefused) {
            start();
        } else if (ended.connection() == 0 || login.get().isPresent()) {
            pauseThen(Obstacle.REFUSED, this::start);
        } else {
            pauseThen(Obstacle.REFUSED, () -> obstacle = null);
        }
    }

    @Override
    public void stop() {
        stopped = true;
    }
}
