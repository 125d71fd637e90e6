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
 * A state machine that works in a session: it seeks a session, pauses while there is no connection, and ends once. The
 * subclass defines the states.
 *
 * <p>Every answer belongs to the state in which its request was sent, see {@link #inThisState}. An answer that arrives
 * after the task has moved on is dropped. An exception in a transition fails the task, so that whoever waits for
 * it is notified. An {@link Error} is not caught here, and ends the client. Confined to the engine thread.
 */
public abstract class SessionTask implements SessionSource.User, Session.Observer {
    private final SessionSource sessions;
    private final Pauses pauses;
    private final Enum<?> seeking;
    private final Enum<?> paused;
    private Enum<?> state;
    private int pausesSoFar; // since the last progress
    private int changes; // how many states were left; distinguishes answers of this state from earlier ones
    private boolean over;
    private @Nullable Session session; // null while it has none
    private @Nullable Runnable resumption; // what to do after the pause
    private @Nullable Timer timer; // ends the pause, if it has a time limit

    /**
     * {@code seeking} is the initial state, in which the task waits for a session. In {@code paused} it waits for a
     * connection, or for the end of a pause.
     */
    protected SessionTask(SessionSource sessions, Pauses pauses, Enum<?> seeking, Enum<?> paused) {
        this.sessions = sessions;
        this.pauses = pauses;
        this.seeking = seeking;
        this.paused = paused;
        this.state = seeking;
    }

    /** Called when a session was found. It need not be connected. */
    protected abstract void onSession(Session found);

    /** Called when the session has ended. Nothing observed in it can be relied on any more. */
    protected abstract void onSessionEnded(State how);

    /** Returns the paths of the locks that this task is about. May be called from any thread. */
    public List<String> paths() {
        return List.of(lockPath());
    }

    /** Ends the task with an error, unless it has ended. */
    public abstract void fail(LockException why);

    // ---- States.

    public final boolean isIn(Enum<?> asked) {
        return state == asked && !over;
    }

    public final boolean isOver() {
        return over;
    }

    /** Enters a state. Pending answers and pauses of the previous state have no effect any more. */
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

    /**
     * Wraps the receiver of an answer: it gets the answer only if the task has not left the current state by then.
     */
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

    /** Runs a transition that was not caused by an answer. An exception fails the task. */
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

    /** Ends the task and detaches it from its session. Returns false if it had already ended. */
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

    /** Requests a session, unless the task has ended. */
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

    /** Starts to work in the given session, without seeking one. */
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

    /** Returns the session in which the task works. It must have one. */
    protected final Session session() {
        return Preconditions.checkNotNull(session, "no session in state %s", state);
    }

    // ---- Pauses.

    /** Runs the action now if there is a connection, otherwise on the next one. */
    public final void whenConnected(Runnable action) {
        if (session().isConnected()) {
            action.run();
        } else {
            become(paused);
            resumption = action;
        }
    }

    /**
     * Runs the action after a pause, or on the next connection if that comes first. Never runs it without a connection.
     */
    public final void pauseThen(Runnable action) {
        become(paused);
        resumption = action;
        timer = pauses.begin(pausesSoFar++, this::onConnected);
    }

    /**
     * Also called at the end of a pause. If there is no connection then, the task stays paused until there is one.
     */
    @Override
    public final void onConnected() {
        Runnable action = resumption;
        if (isIn(paused) && action != null && session != null && session.isConnected()) {
            guard(action);
        }
    }

    /** Makes the next pause short again, because there was progress. */
    public final void resetPace() {
        pausesSoFar = 0;
    }
}
