// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.thread.Blocking;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.jspecify.annotations.Nullable;

/** Opens handles of our own. */
public final class OpenedHandles implements ZooKeeperOperations.Factory {
    private static final Duration LONGEST_PAUSE_OF_THE_CLIENT = Duration.ofSeconds(2);

    private final HandleKind.Opened servers;
    private final ClientSettings settings;
    private final EngineScheduler scheduler;

    public OpenedHandles(HandleKind.Opened servers, ClientSettings settings, EngineScheduler scheduler) {
        this.servers = servers;
        this.settings = settings;
        this.scheduler = scheduler;
    }

    @Override
    public ZooKeeperOperations open(Consumer<ZooKeeperOperations.State> told) {
        HandleStates states = new HandleStates(told, scheduler);
        SessionEvents events = new SessionEvents(scheduler, states);
        ZKClientConfig config = settings.clientConfig();
        String connectString = servers.connectString();
        try {
            ZooKeeper handle = new ZooKeeper(
                    connectString,
                    Math.toIntExact(settings.sessionTimeout().toMillis()),
                    events,
                    config == null ? new ZKClientConfig() : config);
            events.handle = handle;
            settings.auth().forEach(auth -> handle.addAuthInfo(auth.scheme(), auth.credentials()));
            return new HandleOperations(handle, states, scheduler, this::deliver, true, () -> close(handle));
        } catch (IOException | RuntimeException e) {
            throw new LockException("cannot open a ZooKeeper handle to " + connectString, e);
        }
    }

    /**
     * The event thread of our own handle may run tasks. When the handle ends, requests are answered on other threads of
     * ZooKeeper's, which have to go on.
     */
    private void deliver(Runnable task) {
        if (Blocking.isEventThread()) {
            scheduler.execute(task);
        } else {
            scheduler.handOver(task);
        }
    }

    /**
     * Waits for the server no longer than ZooKeeper's client does itself: if a thread of its own has died, it would
     * wait forever.
     */
    private void close(ZooKeeper handle) {
        Thread closing = Thread.currentThread();
        Duration limit = Duration.ofMillis(handle.getSessionTimeout()).plus(LONGEST_PAUSE_OF_THE_CLIENT);
        EngineScheduler.Timer timer = scheduler.schedule(limit, closing::interrupt);
        try {
            handle.close();
        } catch (InterruptedException e) {
            // Its servers end the session after its time-out.
        } finally {
            timer.cancel();
        }
    }

    private static final class SessionEvents implements Watcher {
        private final EngineScheduler scheduler;
        private final HandleStates states;
        // Written and read on the engine thread: events are looked at there, after the handle was opened.
        private @Nullable ZooKeeper handle;

        SessionEvents(EngineScheduler scheduler, HandleStates states) {
            this.scheduler = scheduler;
            this.states = states;
        }

        @Override
        public void process(WatchedEvent event) {
            if (event.getType() == Event.EventType.None) {
                scheduler.execute(() -> KeeperStates.of(event.getState(), Objects.requireNonNull(handle))
                        .ifPresent(states::onEvent));
            }
        }
    }
}
