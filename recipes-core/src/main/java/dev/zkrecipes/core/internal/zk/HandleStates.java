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
 * The states of one handle, reported in order and without gaps. ZooKeeper's client drops a session event if it has the
 * same state as the previous event of any kind, including watch events. This has two consequences:
 *
 * <ul>
 *   <li>If a {@code removeWatches} with {@code local = true} is lost with the connection, the client does not report
 *       that loss. The application may send such a request on a handle that it shares with this library. So the
 *       connection also counts as lost if a request was lost with it and no event follows, or if the next connection is
 *       reported without a loss before it.
 *   <li>With Netty, which TLS needs, a watch event may be read after its connection was lost. The client then does not
 *       report the next connection. So if the handle claims to be connected but no event has said so, this library
 *       sends a request to the server.
 * </ul>
 *
 * <p>Confined to the engine thread.
 */
public final class HandleStates {
    /** How long to wait for the event that reports a loss. It usually follows within microseconds. */
    private static final Duration PATIENCE = Duration.ofMillis(100);

    private static final Duration PAUSE = Duration.ofSeconds(2); // between two checks for a connection

    private final Consumer<State> told; // receives every change
    private final EngineScheduler scheduler;
    private Runnable whenConnected = () -> {};
    private Runnable whileDisconnected = () -> {};
    private State last = State.CONNECTING;
    private @Nullable Timer doubt; // fires when an unreported loss counts, or for the next check
    private boolean ended; // whether the handle is not used any longer

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

    /** Sets a task that runs on each new connection that accepts writes, after the connection was reported. */
    void whenConnected(Runnable task) {
        whenConnected = task;
    }

    /** Sets a task that runs repeatedly while the connection is lost. */
    void whileDisconnected(Runnable task) {
        whileDisconnected = task;
    }

    /**
     * Returns the state that an event reports, or empty if the event changes nothing. If the client {@code logsIn} by
     * SASL, a connection counts only once the login on it has succeeded. Until then ZooKeeper's client holds requests
     * back; if it cannot begin the login, it sends them without an identity. The event is null if the client could not
     * even prepare the login.
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
            default -> Optional.empty(); // two deprecated states that ZooKeeper no longer sends
        };
    }

    /**
     * Handles a session event. ZooKeeper's client reports each connection once, so a second report means that a loss
     * between the two was dropped.
     */
    void onEvent(State state) {
        if (state == State.CONNECTED && hasConnection()) {
            become(State.DISCONNECTED);
        }
        become(state);
    }

    /**
     * Records that a request was lost with the connection. If no event reports the loss soon, the connection counts as
     * lost without one.
     */
    void onLoss() {
        if (hasConnection() && doubt == null && !ended) {
            doubt = scheduler.schedule(PATIENCE, () -> become(State.DISCONNECTED));
        }
    }

    /**
     * Records that the server answered on a connection that no event has reported. {@code state} is the state of that
     * connection.
     */
    void onContact(State state) {
        if (last == State.DISCONNECTED) {
            become(state);
        }
    }

    /** Ends all timers, because the handle is not used any longer. Its last event may never come. */
    void end() {
        ended = true;
        cancelDoubt();
    }

    private void cancelDoubt() {
        if (doubt != null) {
            doubt.cancel();
            doubt = null;
        }
    }

    private boolean hasConnection() {
        return last == State.CONNECTED || last == State.READ_ONLY;
    }

    /** Enters a state and reports it. Does nothing after a final state. */
    void become(State state) {
        if (last.isFinal()) {
            return;
        }
        cancelDoubt();
        last = state;
        if (state == State.DISCONNECTED && !ended) {
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
