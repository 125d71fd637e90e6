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
 * The states of one handle, in order and without gaps. ZooKeeper's client drops a session event that tells the same as
 * the last event of any kind, which has two consequences:
 *
 * <ul>
 *   <li>If a {@code removeWatches} with {@code local = true} is lost with the connection, nobody is told of that loss.
 *       The application may send such a request on a handle that it shares with us. So the connection is lost, too, if
 *       a request was lost with it and the event does not follow, and if the next connection is told of without it.
 *   <li>With Netty, which TLS needs, a node's event may be read after the loss of its connection. Then nobody is told
 *       of the next one. So the server is asked when the handle says that it is connected and no event has said so.
 * </ul>
 *
 * <p>Confined to the engine thread.
 */
public final class HandleStates {
    /** The event usually follows within microseconds. */
    private static final Duration PATIENCE = Duration.ofMillis(100);

    private static final Duration PAUSE = Duration.ofSeconds(2);

    private final Consumer<State> told;
    private final EngineScheduler scheduler;
    private Runnable whenConnected = () -> {};
    private Runnable whileDisconnected = () -> {};
    private State last = State.CONNECTING;
    private @Nullable Timer doubt;

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

    /** Runs this again and again while the connection is lost. */
    void whileDisconnected(Runnable task) {
        whileDisconnected = task;
    }

    /**
     * The state that an event tells of. If the client {@code logsIn} by SASL, a connection counts as soon as the login
     * on it has succeeded: before, ZooKeeper's client sends nothing on it, and after a login that could not begin it
     * would go on as nobody. For a login that it could not even prepare, its event has no state.
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

    /** A session event has come. The client tells of each connection once. */
    void onEvent(State state) {
        if (state == State.CONNECTED && hasConnection()) {
            become(State.DISCONNECTED);
        }
        become(state);
    }

    void onLoss() {
        if (hasConnection() && doubt == null) {
            doubt = scheduler.schedule(PATIENCE, () -> become(State.DISCONNECTED));
        }
    }

    /** The server has answered, on a connection of this kind. */
    void onContact(State state) {
        if (last == State.DISCONNECTED) {
            become(state);
        }
    }

    private boolean hasConnection() {
        return last == State.CONNECTED || last == State.READ_ONLY;
    }

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
