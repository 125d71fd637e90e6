// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import dev.zkrecipes.core.internal.node.OwnNode;
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
 * Works on a handle of somebody else's. The handle's own watcher is his; but every pending watch is told of session
 * events too, so an exists-watch on a private path that never exists is our ear.
 */
public final class WrappedHandles implements ZooKeeperOperations.Factory {
    private static final Duration RETRY = Duration.ofMillis(100);

    private final ZooKeeper handle;
    private final EngineScheduler scheduler;

    public WrappedHandles(ZooKeeper handle, EngineScheduler scheduler) {
        this.handle = handle;
        this.scheduler = scheduler;
    }

    @Override
    public ZooKeeperOperations open(Consumer<State> states) {
        Ear ear = new Ear(states);
        ear.listen();
        // Looked at after the watch's request was sent: if the connection goes now, that request is answered with it.
        State now = handle.getState() == ZooKeeper.States.CONNECTED ? State.CONNECTED : State.CONNECTING;
        return new HandleOperations(handle, now, scheduler, ear::stop);
    }

    private final class Ear implements Watcher {
        private final String path = "/zkrecipes-" + OwnNode.newId(scheduler);
        private final Consumer<State> states;
        private volatile boolean stopped;

        Ear(Consumer<State> states) {
            this.states = states;
        }

        void listen() {
            if (stopped) {
                return;
            }
            handle.exists(path, this, (rc, asked, ctx, stat) -> scheduler.execute(() -> onAnswer(Code.get(rc))), null);
        }

        void stop() {
            stopped = true;
            if (handle.getState().isAlive()) {
                handle.removeAllWatches(path, WatcherType.Any, true, (rc, asked, ctx) -> {}, null);
            }
        }

        private void onAnswer(Code code) {
            if (stopped) {
                return;
            }
            switch (code) {
                case OK, NONODE ->
                    states.accept(
                            handle.getState() == ZooKeeper.States.CONNECTEDREADONLY
                                    ? State.READ_ONLY
                                    : State.CONNECTED);
                case SESSIONEXPIRED -> states.accept(State.EXPIRED);
                case AUTHFAILED -> states.accept(State.AUTH_FAILED);
                default -> {
                    states.accept(State.DISCONNECTED);
                    scheduler.schedule(RETRY, this::listen);
                }
            }
        }

        @Override
        public void process(WatchedEvent event) {
            if (event.getType() == Event.EventType.None) {
                scheduler.execute(
                        () -> KeeperStates.of(event.getState(), handle).ifPresent(states));
            } else if (event.getType() == Event.EventType.NodeCreated) {
                listen();
            }
        }
    }
}
