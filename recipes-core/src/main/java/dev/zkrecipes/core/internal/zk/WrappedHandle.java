// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import dev.zkrecipes.core.internal.wire.NodeId;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;

/**
 * Follows the states of a handle that belongs to the application. The default watcher of that handle belongs to the
 * application, too, so this library does not receive session events there. But ZooKeeper also reports session events to
 * every pending watch. So an exists-watch on a private path that never exists receives them instead.
 *
 * <p>Its methods run on the engine thread, except for {@link #onEvent}, which runs on the event thread of the handle.
 */
public final class WrappedHandle {
    private static final Duration RETRY = Duration.ofMillis(100); // before the watch is set again

    private final ZooKeeper handle;
    private final EngineScheduler scheduler;
    private final HandleStates states;
    private final String path; // the watched path, which never exists
    private final HandleWatches.Stub ear = new HandleWatches.Stub(true, this::onEvent); // receives session events
    private Runnable onEnd = () -> {}; // runs when the session has ended
    private volatile boolean stopped; // the client has ended

    private WrappedHandle(ZooKeeper handle, EngineScheduler scheduler, HandleStates states) {
        this.handle = handle;
        this.scheduler = scheduler;
        this.states = states;
        this.path = "/zkrecipes-" + NodeId.next(scheduler.random());
    }

    /**
     * Starts to use the application's handle. The initial state is CONNECTED if the handle is connected and has the
     * identity that its settings require.
     */
    public static ZooKeeperOperations open(ZooKeeper handle, EngineScheduler scheduler, Consumer<State> told) {
        HandleStates states = new HandleStates(told, scheduler);
        WrappedHandle listener = new WrappedHandle(handle, scheduler, states);
        listener.listen();
        // The state is read after the request for the watch was sent: if the connection is lost from then on, the
        // answer to that request shows it.
        boolean isUsable = handle.getState() == ZooKeeper.States.CONNECTED && !SaslLogin.isMissing(handle);
        State now = isUsable ? State.CONNECTED : State.CONNECTING;
        // The event thread of this handle belongs to the application, too. It hands over what it delivers, and runs no
        // engine tasks.
        HandleOperations operations =
                new HandleOperations(handle, states.foundIn(now), scheduler, () -> false, false, listener::stop);
        listener.onEnd = operations::close; // the application may keep the handle although its session has ended
        return operations;
    }

    /** Sets the watch. The answer also shows the state of the handle at that time. */
    private void listen() {
        if (!stopped) {
            handle.exists(
                    path, ear, (rc, asked, ctx, stat) -> scheduler.handOver(() -> onAnswer(Answer.codeOf(rc))), null);
        }
    }

    private void stop() {
        stopped = true;
        ear.silence();
        if (handle.getState().isAlive()) {
            // If this request is lost with the connection, the silent watch stays. With "local = true" the watch would
            // be removed for certain, but ZooKeeper's client would hide the loss of the connection from the
            // application.
            handle.removeAllWatches(path, Watcher.WatcherType.Any, false, (rc, asked, ctx) -> {}, null);
        }
    }

    private void onAnswer(Code code) {
        if (stopped) {
            return;
        }
        switch (code) {
            case OK, NONODE -> {
                if (SaslLogin.isMissing(handle)) {
                    onState(State.AUTH_FAILED);
                } else {
                    states.become(
                            handle.getState() == ZooKeeper.States.CONNECTEDREADONLY
                                    ? State.READ_ONLY
                                    : State.CONNECTED);
                }
            }
            case SESSIONEXPIRED -> onState(State.EXPIRED);
            case AUTHFAILED -> onState(State.AUTH_FAILED);
            default -> {
                states.become(State.DISCONNECTED);
                scheduler.schedule(RETRY, this::listen);
            }
        }
    }

    /**
     * Receives session events. If somebody creates the private path after all, the watch has fired and is set again.
     */
    private void onEvent(WatchedEvent event) {
        if (event.getType() == Watcher.Event.EventType.None) {
            scheduler.handOver(() -> HandleStates.of(event.getState(), false).ifPresent(this::onState));
        } else if (event.getType() == Watcher.Event.EventType.NodeCreated) {
            listen();
        }
    }

    /** Reports a state, and releases the handle once its session has ended. */
    private void onState(State state) {
        states.onEvent(state);
        if (state.isFinal()) {
            onEnd.run();
        }
    }
}
