// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.jspecify.annotations.Nullable;

/**
 * The states of one handle, reported in order and without gaps. ZooKeeper's client drops a session event if it
 * reports the same state as the last event of any kind, a watch event included. This has two consequences:
 *
 * <ul>
 *   <li>If a {@code removeWatches} with {@code local = true} is lost with the connection, the client reports that
 *       loss to nobody. The application may send such a request on a handle that it shares with this library. So the
 *       connection counts as lost, too, if a request was lost with it and no event follows, or if the next connection
 *       is reported without a loss before it.
 *   <li>With Netty, which TLS needs, the event of a node may be read after the loss of its connection. Then the
 *       client does not report the next connection. So the server is asked if the handle says that it is connected
 *       and no event has said so.
 * </ul>
 *
 * <p>Confined to the engine thread.
 */
public final class HandleStates {
    /** The event usually follows within microseconds. */
    private static final Duration PATIENCE = Duration.ofMillis(100);

    private static final Duration PAUSE = Duration.ofSeconds(2); // between two looks for a connection

    private final Consumer<State> told; // told every change
    private final EngineScheduler scheduler;
    private Runnable whenConnected = () -> {};
    private Runnable whileDisconnected = () -> {};
    private State last = State.CONNECTING;
    private @Nullable Timer doubt; // until a loss counts, or until the next look

    public HandleStates(Consumer<State> told, EngineScheduler scheduler) {
        this.told = told;
        this.scheduler = scheduler;
    }

    /** Sets the state in which a handle of the application's was found. It is not reported. */
    public HandleStates foundIn(State state) {
        last = state;
        return this;
    }

    State current() {
        return last;
    }

    /** Sets a task that runs on each new connection, after the connection was reported. */
    void whenConnected(Runnable task) {
        whenConnected = task;
    }

    /** Sets a task that runs repeatedly while the connection is lost. */
    void whileDisconnected(Runnable task) {
        whileDisconnected = task;
    }

    /**
     * The state that an event reports; empty if it changes nothing. If the client {@code logsIn} by SASL, a
     * connection counts only once the login on it has succeeded. Until then ZooKeeper's client holds requests back,
     * and if it cannot begin the login, it sends them without an identity. The event is null for a login that the
     * client could not even prepare.
     */
    static Optional<State> of(@Nullable KeeperState event, boolean logsIn) {
        if (event == null) {
            return Optional.of(State.AUTH_FAILED);
        }
        return switch (event) {
            case SyncConnected -> logsIn ? Optional.empty() : Optional.of(State.CONNECTED);
            case SaslAuthenticated -> logsIn ? Optional.of(State.CONNECTED) : Optional.empty();
            case ConnectedReadOnly -> Optional.of(State.READ_ONLY);
            case Disconnected -> Optional.of(State.DISCONNECTED);
            case Expired -> Optional.of(State.EXPIRED);
            case Closed -> Optional.of(State.CLOSED);
            case AuthFailed -> Optional.of(State.AUTH_FAILED);
            default -> Optional.empty(); // two that ZooKeeper does not send any more
        };
    }

    /**
     * A session event has come. ZooKeeper's client reports each connection once, so a second report means that a loss
     * between the two was dropped.
     */
    void onEvent(State state) {
        if (state == State.CONNECTED && hasConnection()) {
            become(State.DISCONNECTED);
        }
        become(state);
    }

    /** A request was lost with the connection. If no event reports the loss soon, it counts without one. */
    void onLoss() {
        if (hasConnection() && doubt == null) {
            doubt = scheduler.schedule(PATIENCE, () -> become(State.DISCONNECTED));
        }
    }

    /**
     * The server has answered on a connection that no event has reported. {@code state} is the kind of that
     * connection.
     */
    void onContact(State state) {
        if (last == State.DISCONNECTED) {
            become(state);
        }
    }

    private boolean hasConnection() {
        return last == State.CONNECTED || last == State.READ_ONLY;
    }

    /** Takes on a state and reports it. No state follows a final one. */
    void become(State state) {
        if (last.isFinal()) {
            return;
        }
        if (doubt != null) {
            doubt.cancel();
            doubt = null;
        }
        last = state;
        if (state == State.DISCONNECTED) {
            doubt = scheduler.schedule(PAUSE, this::look);
        }
        told.accept(state);
        if (state == State.CONNECTED) {
            whenConnected.run();
        }
    }

    private void look() {
        doubt = scheduler.schedule(PAUSE, this::look);
        whileDisconnected.run();
    }
}
