// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.util.function.Consumer;

/**
 * The states of one handle, without the gaps that ZooKeeper's client leaves: if a {@code removeWatches} with {@code local
 * = true} is lost with the connection, the client tells nobody of that loss. The application may send such a request on
 * a handle that it shares with us. So a request that was lost, and a second connection in a row, tell the same as the
 * missing event. Confined to the engine thread.
 */
public final class HandleStates {
    private final Consumer<State> told;
    private Runnable whenConnected = () -> {};
    private State last = State.CONNECTING;

    /**
     * Begins CONNECTING.
     *
     * @param told told every change
     */
    public HandleStates(Consumer<State> told) {
        this.told = told;
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

    /** A session event has come. */
    void onEvent(State state) {
        if (state == State.CONNECTED) {
            onLoss(); // the client is told of each connection once
        }
        become(state);
    }

    /** A request was lost with the connection. Losses come in the order of the events. */
    void onLoss() {
        if (last == State.CONNECTED || last == State.READ_ONLY) {
            become(State.DISCONNECTED);
        }
    }

    /** So it stands, by an answer of the server. */
    void become(State state) {
        last = state;
        told.accept(state);
        if (state == State.CONNECTED) {
            whenConnected.run();
        }
    }
}
