// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;

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
        AtomicReference<ZooKeeper> opened = new AtomicReference<>(); // events are looked at after it was opened
        ZKClientConfig config = settings.clientConfig();
        String connectString = servers.connectString();
        try {
            ZooKeeper handle = new ZooKeeper(
                    connectString,
                    Math.toIntExact(settings.sessionTimeout().toMillis()),
                    event -> {
                        if (event.getType() == EventType.None) {
                            scheduler.execute(
                                    () -> HandleStates.of(event.getState(), Objects.requireNonNull(opened.get()))
                                            .ifPresent(states::onEvent));
                        }
                    },
                    config == null ? new ZKClientConfig() : config);
            opened.set(handle);
            settings.auth().forEach(auth -> handle.addAuthInfo(auth.scheme(), auth.credentials()));
            return new HandleOperations(handle, states, scheduler, true, () -> close(handle));
        } catch (IOException | RuntimeException e) {
            throw new LockException("cannot open a ZooKeeper handle to " + connectString, e);
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
}
