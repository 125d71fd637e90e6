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
 * A handle of the application's, whose own watcher belongs to the application. But every pending watch is told of
 * session events too, so an exists-watch on a private path that never exists hears them for us.
 */
public final class WrappedHandle {
    private static final Duration RETRY = Duration.ofMillis(100);

    private final ZooKeeper handle;
    private final EngineScheduler scheduler;
    private final HandleStates states;
    private final String path;
    private final HandleWatches.Stub ear = new HandleWatches.Stub(true, this::onEvent);
    private Runnable onEnd = () -> {};
    private volatile boolean stopped;

    private WrappedHandle(ZooKeeper handle, EngineScheduler scheduler, HandleStates states) {
        this.handle = handle;
        this.scheduler = scheduler;
        this.states = states;
        this.path = "/zkrecipes-" + NodeId.next(scheduler.random());
    }

    public static ZooKeeperOperations open(ZooKeeper handle, EngineScheduler scheduler, Consumer<State> told) {
        HandleStates states = new HandleStates(told, scheduler);
        WrappedHandle listener = new WrappedHandle(handle, scheduler, states);
        listener.listen();
        // Looked at after the watch's request was sent: if the connection goes now, that request is answered with it.
        boolean isUsable = handle.getState() == ZooKeeper.States.CONNECTED && !SaslLogin.isMissing(handle);
        State now = isUsable ? State.CONNECTED : State.CONNECTING;
        // Its event thread is the application's, too: it hands over what it brings, and runs nothing for the engine.
        HandleOperations operations =
                new HandleOperations(handle, states.foundIn(now), scheduler, false, listener::stop);
        listener.onEnd = operations::close; // the handle may be kept though its session has ended
        return operations;
    }

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
            // If that is lost, the watch stays. Removed with "local = true", it would hide the loss from the
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

    private void onEvent(WatchedEvent event) {
        if (event.getType() == Watcher.Event.EventType.None) {
            scheduler.handOver(() -> HandleStates.of(event.getState(), false).ifPresent(this::onState));
        } else if (event.getType() == Watcher.Event.EventType.NodeCreated) {
            listen();
        }
    }

    private void onState(State state) {
        states.onEvent(state);
        if (state.isFinal()) {
            onEnd.run();
        }
    }
}
