// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.source;

import com.google.common.base.Preconditions;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.thread.Pauses;
import dev.zkrecipes.core.internal.zk.ZooKeeperErrors;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A state machine that works in a session: it seeks one, pauses while there is no connection, and ends once. The states
 * are the machine's own.
 *
 * <p>Every answer belongs to the state in which its request was sent ({@link #inThisState}); one that comes when the
 * machine has moved on is dropped. An exception in a transition fails the machine, so that its waiters are told; an
 * error ends the client. Confined to the engine thread.
 */
public abstract class SessionTask implements SessionSource.User, Session.Observer {
    private final SessionSource sessions;
    private final Pauses pauses;
    private final Enum<?> seeking;
    private final Enum<?> paused;
    private Enum<?> state;
    private int pausesSoFar; // since things last went well
    private int changes;
    private boolean over;
    private @Nullable Session session;
    private @Nullable Runnable resumption;
    private @Nullable Timer timer;

    /** Waits for a session in {@code seeking}, its first state, and for a connection or a while in {@code paused}. */
    protected SessionTask(SessionSource sessions, Pauses pauses, Enum<?> seeking, Enum<?> paused) {
        this.sessions = sessions;
        this.pauses = pauses;
        this.seeking = seeking;
        this.paused = paused;
        this.state = seeking;
    }

    /** It need not be connected. */
    protected abstract void onSession(Session found);

    /** The session has ended. What was known of it is void. */
    protected abstract void onSessionEnded(State how);

    /** The paths of the locks that it is about. Any thread. */
    public List<String> paths() {
        return List.of(lockPath());
    }

    /** Ends the machine with an error, unless it has ended. */
    public abstract void fail(LockException why);

    // ---- States.

    public final boolean isIn(Enum<?> asked) {
        return state == asked && !over;
    }

    public final boolean isOver() {
        return over;
    }

    public final void become(Enum<?> next) {
        state = next;
        leaveState();
    }

    private void leaveState() {
        changes++;
        resumption = null;
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }

    /** A receiver that passes answers on while this state lasts. */
    public final <T> Consumer<T> inThisState(Consumer<T> body) {
        int begun = changes;
        return value -> {
            if (changes == begun) {
                try {
                    body.accept(value);
                } catch (Exception e) {
                    failBy(e);
                }
            }
        };
    }

    public final void guard(Runnable transition) {
        try {
            transition.run();
        } catch (Exception e) {
            failBy(e);
        }
    }

    private void failBy(Exception cause) {
        fail(ZooKeeperErrors.ofEngine(lockPath(), cause));
    }

    /** Ends, and leaves the session; returns whether this call did. */
    protected final boolean finish() {
        if (over) {
            return false;
        }
        leaveState();
        over = true;
        sessions.forget(this);
        if (session != null) {
            session.ignore(this);
        }
        return true;
    }

    // ---- The session.

    protected final void seek() {
        if (!over) {
            become(seeking);
            sessions.request(this);
        }
    }

    @Override
    public final void with(Session found) {
        if (isIn(seeking)) {
            guard(() -> {
                workIn(found);
                onSession(found);
            });
        }
    }

    /** Works in this session, and does not look for another. */
    protected final void workIn(Session given) {
        become(paused);
        session = given;
        given.observe(this);
    }

    @Override
    public final void unavailable(LockException why) {
        if (isIn(seeking)) {
            fail(why);
        }
    }

    @Override
    public final void onEnded(State how) {
        session = null;
        if (!over) {
            guard(() -> onSessionEnded(how));
        }
    }

    protected final Session session() {
        return Preconditions.checkNotNull(session, "no session in state %s", state);
    }

    // ---- Pauses.

    public final void whenConnected(Runnable action) {
        if (session().isConnected()) {
            action.run();
        } else {
            become(paused);
            resumption = action;
        }
    }

    /** Runs the action after a pause or with the next connection, whichever comes first; never without a connection. */
    public final void pauseThen(Runnable action) {
        become(paused);
        resumption = action;
        timer = pauses.begin(pausesSoFar++, this::onConnected);
    }

    /** Called after a pause, too, whether there is a connection or not. */
    @Override
    public final void onConnected() {
        Runnable action = resumption;
        if (isIn(paused) && action != null && session != null && session.isConnected()) {
            guard(action);
        }
    }

    public final void resetPace() {
        pausesSoFar = 0;
    }
}
