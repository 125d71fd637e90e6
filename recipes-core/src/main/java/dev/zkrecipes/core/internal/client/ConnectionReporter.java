// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.client;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** Tells the application every change of the connection's state, once and in order. Thread-safe. */
public final class ConnectionReporter {
    private final Executor inOrder;
    private final List<Consumer<ConnectionState>> listeners = new CopyOnWriteArrayList<>();
    private volatile ConnectionState state = ConnectionState.CONNECTING;

    public ConnectionReporter(Executor inOrder) {
        this.inOrder = inOrder;
    }

    public ConnectionState state() {
        return state;
    }

    public void add(Consumer<ConnectionState> listener) {
        listeners.add(listener);
    }

    public void remove(Consumer<ConnectionState> listener) {
        listeners.remove(listener);
    }

    /** Called on the engine thread only. */
    public void report(ConnectionState next) {
        if (state == next || state == ConnectionState.CLOSED) {
            return;
        }
        state = next;
        // One task for each, so that one that throws does not keep the news from the others.
        listeners.forEach(listener -> inOrder.execute(() -> listener.accept(next)));
    }

    public static ConnectionState of(State state) {
        return switch (state) {
            case CONNECTING -> ConnectionState.CONNECTING;
            case CONNECTED -> ConnectionState.CONNECTED;
            case READ_ONLY, DISCONNECTED -> ConnectionState.SUSPENDED;
            case EXPIRED, AUTH_FAILED, CLOSED -> ConnectionState.EXPIRED;
        };
    }
}
