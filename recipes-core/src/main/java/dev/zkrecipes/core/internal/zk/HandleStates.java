// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The states of one handle, in order and without the gaps that ZooKeeper's client leaves: if a {@code removeWatches} with
 * {@code local = true} is lost with the connection, the client tells nobody of that loss. The application may send such a
 * request on a handle that it shares with us. So the connection is lost, too, if a request was lost with it and the event
 * does not follow, and if the next connection is told of without it. Confined to the engine thread.
 */
public final class HandleStates {
    /** The event usually follows within microseconds. */
    private static final Duration PATIENCE = Duration.ofMillis(100);

    private final Consumer<State> told;
    private final EngineScheduler scheduler;
    private Runnable whenConnected = () -> {};
    private State last = State.CONNECTING;
    private @Nullable Timer awaitingEvent;

    /**
     * Begins CONNECTING.
     *
     * @param told told every change
     */
    public HandleStates(Consumer<State> told, EngineScheduler scheduler) {
        this.told = told;
        this.scheduler = scheduler;
    }

    /** The state in which a handle of somebody else was found, which is not told. */
    public HandleStates foundIn(State state) {
        last = state;
        return this;
    }

    State current() {
        return last;
    }

    /** Runs this on each new connection, after that was told. */
    void whenConnected(Runnable task) {
        whenConnected = task;
    }

    /** A session event has come. The client tells of each connection once. */
    void onEvent(State state) {
        if (state == State.CONNECTED && hasConnection()) {
            become(State.DISCONNECTED);
        }
        become(state);
    }

    /** A request was lost with the connection. */
    void onLoss() {
        if (hasConnection() && awaitingEvent == null) {
            awaitingEvent = scheduler.schedule(PATIENCE, () -> become(State.DISCONNECTED));
        }
    }

    private boolean hasConnection() {
        return last == State.CONNECTED || last == State.READ_ONLY;
    }

    /** So it stands. */
    void become(State state) {
        if (awaitingEvent != null) {
            awaitingEvent.cancel();
            awaitingEvent = null;
        }
        last = state;
        told.accept(state);
        if (state == State.CONNECTED) {
            whenConnected.run();
        }
    }
}
