// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.source;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.thread.Pauses;
import dev.zkrecipes.core.internal.zk.Obstacle;
import dev.zkrecipes.core.internal.zk.OpenedHandle;
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
 * Opens a session, and the next one as soon as it has ended. If the client has to log in, it does so first.
 *
 * <p>After a failure it pauses and tries again. Each pause is twice as long as the one before, up to {@link
 * #LONGEST_PAUSE}. If only the user can put it right, the requests fail that wait for the try, and those that come
 * during the pause after it.
 *
 * <p>A server may connect a session and then refuse its credentials. If there was no login, the next session is opened
 * when a request asks for one, because only a request shows what the credentials are worth.
 */
public final class OpenedSessions implements SessionSource {
    public static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

    /** The login before a session is opened. */
    public interface Login {
        boolean isWanted();

        /** Logs in, if that is wanted, and then says on the engine's own thread what went wrong. */
        void then(Consumer<Optional<Obstacle>> next);
    }

    private final Login login;
    private final Supplier<Session> factory;
    private final Consumer<Obstacle> onFailure;
    private final Pauses pauses;
    private final EngineScheduler scheduler;
    private final Set<User> waiting = new LinkedHashSet<>();
    private @Nullable Session session;
    private @Nullable Timer retry;
    private @Nullable Obstacle obstacle; // in the pause behind it
    private int pausesSoFar; // since a session lasted
    private long openedAt;
    private boolean opening;
    private boolean stopped;

    /** {@code pauses} are no longer than {@link #LONGEST_PAUSE}; {@code onFailure} is told first. */
    public OpenedSessions(
            Login login,
            Supplier<Session> factory,
            Consumer<Obstacle> onFailure,
            Pauses pauses,
            EngineScheduler scheduler) {
        this.login = login;
        this.factory = factory;
        this.onFailure = onFailure;
        this.pauses = pauses;
        this.scheduler = scheduler;
    }

    /** Opens a handle on the engine's own thread, from which ZooKeeper's threads inherit. */
    @Override
    public void start() {
        if (!opening) {
            opening = true;
            scheduler.handOver(() -> login.then(this::open));
        }
    }

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

    private void serve() {
        obstacle = null;
        List<User> served = List.copyOf(waiting);
        waiting.clear();
        served.forEach(this::request);
    }

    private void fail(Obstacle found) {
        onFailure.accept(found);
        pauseThen(found, this::start);
        List<User> told = List.copyOf(waiting);
        if (found.isForGood()) {
            waiting.clear();
        }
        told.forEach(user -> tell(user, found));
    }

    private void pauseThen(Obstacle found, Runnable next) {
        obstacle = found;
        retry = pauses.begin(pausesSoFar++, () -> {
            retry = null;
            next.run();
        });
    }

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
        Obstacle known = opening ? null : obstacle;
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
        } else if (ended.connection() == 0 || login.isWanted()) {
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
