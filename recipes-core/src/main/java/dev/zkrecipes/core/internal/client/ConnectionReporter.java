// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.client;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Tells the application every change of the connection's state, once and in order. Thread-safe. */
public final class ConnectionReporter {
    private final Supplier<Executor> inOrder;
    private final List<Told> listeners = new CopyOnWriteArrayList<>();
    private volatile ConnectionState state = ConnectionState.CONNECTING;

    /** A listener and the order of its calls: one that blocks does not delay the others. */
    private record Told(Consumer<ConnectionState> listener, Executor inOrder) {}

    /**
     * Begins without listeners.
     *
     * @param inOrder makes an executor that runs tasks one after another
     */
    public ConnectionReporter(Supplier<Executor> inOrder) {
        this.inOrder = inOrder;
    }

    public ConnectionState state() {
        return state;
    }

    public void add(Consumer<ConnectionState> listener) {
        listeners.add(new Told(listener, inOrder.get()));
    }

    public void remove(Consumer<ConnectionState> listener) {
        for (Told told : listeners) {
            if (told.listener().equals(listener)) {
                listeners.remove(told); // one of them, if it was added twice
                return;
            }
        }
    }

    /** Called on the engine thread only. */
    public void report(ConnectionState next) {
        if (state == next || state == ConnectionState.CLOSED) {
            return;
        }
        state = next;
        listeners.forEach(told -> told.inOrder().execute(() -> told.listener().accept(next)));
    }

    public static ConnectionState of(State state) {
        return switch (state) {
            case CONNECTING -> ConnectionState.CONNECTING;
            case CONNECTED -> ConnectionState.CONNECTED;
            case READ_ONLY, DISCONNECTED -> ConnectionState.SUSPENDED;
            case EXPIRED, CLOSED -> ConnectionState.EXPIRED;
            case AUTH_FAILED -> ConnectionState.AUTH_FAILED;
        };
    }
}
