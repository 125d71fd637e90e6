// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import com.google.common.base.Throwables;
import com.google.common.util.concurrent.Uninterruptibles;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.internal.thread.Blocking;
import dev.zkrecipes.core.internal.thread.EngineThreads;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;

/** Opens and closes the handles that belong to this library. */
public final class OpenedHandle {
    private static final long LONGEST_PAUSE_OF_THE_CLIENT_MILLIS = 2_000; // in its close()

    private OpenedHandle() {}

    /**
     * Opens a handle, and returns before it is connected. Call only on the engine thread. Throws a
     * {@link LockConnectionException} if ZooKeeper's client cannot be created, for example because of its configuration
     * or a missing class.
     */
    public static ZooKeeperOperations open(
            HandleKind.Opened servers, ClientSettings settings, EngineScheduler scheduler, Consumer<State> told) {
        HandleStates states = new HandleStates(told, scheduler);
        AtomicReference<ZooKeeper> opened = new AtomicReference<>(); // set before the engine handles the first event
        ZKClientConfig config = settings.clientConfig();
        boolean logsIn = new SaslLogin(config, List.of()).isWanted();
        String connectString = servers.connectString();
        try {
            ZooKeeper handle = new ZooKeeper(
                    connectString,
                    Math.toIntExact(settings.sessionTimeout().toMillis()),
                    event -> {
                        if (event.getType() == EventType.None) {
                            scheduler.execute(() -> HandleStates.of(event.getState(), logsIn)
                                    .ifPresent(state -> {
                                        states.onEvent(state);
                                        if (state == State.AUTH_FAILED) { // the client may go on without an identity
                                            scheduler.executeBlocking(
                                                    () -> close(Objects.requireNonNull(opened.get())));
                                        }
                                    }));
                        }
                    },
                    config == null ? new ZKClientConfig() : config);
            opened.set(handle);
            settings.auth().forEach(auth -> handle.addAuthInfo(auth.scheme(), auth.credentials()));
            // When a handle ends, other threads of ZooKeeper's client complete its requests. These threads have other
            // work to do, so only the event thread runs engine tasks.
            return new HandleOperations(handle, states, scheduler, Blocking::isEventThread, true, () -> close(handle));
        } catch (IOException | RuntimeException | LinkageError e) {
            throw new LockConnectionException(
                    "no ZooKeeper handle can be opened to " + connectString + ": " + TlsSettings.reason(e), e);
        }
    }

    /** Classifies an exception thrown by {@link #open}: a missing class is permanent, everything else may pass. */
    public static Obstacle obstacle(RuntimeException thrown) {
        boolean lacksClass = Throwables.getCausalChain(thrown).stream()
                .anyMatch(each -> each instanceof LinkageError || each instanceof ClassNotFoundException);
        return lacksClass
                ? new Obstacle(
                        thrown.getMessage() + "; add the missing jar to the class path",
                        Obstacle.Kind.PERMANENT,
                        thrown)
                : new Obstacle(thrown.getMessage() + "; check the clientConfig", Obstacle.Kind.TEMPORARY, thrown);
    }

    /**
     * Closes a handle, and waits for the server no longer than ZooKeeper's client itself usually does. If one of its
     * threads has died, {@code ZooKeeper.close()} would wait forever. The engine and its timers may have ended by now,
     * so a second thread interrupts the closing one.
     */
    private static void close(ZooKeeper handle) {
        Thread closing = Thread.currentThread();
        long limit = handle.getSessionTimeout() + LONGEST_PAUSE_OF_THE_CLIENT_MILLIS;
        CountDownLatch closed = new CountDownLatch(1);
        try {
            EngineThreads.start("zkrecipes-close-", () -> {
                if (!Uninterruptibles.awaitUninterruptibly(closed, limit, TimeUnit.MILLISECONDS)) {
                    closing.interrupt();
                }
            });
        } finally { // even if there is no memory for that thread
            try {
                handle.close();
            } catch (InterruptedException e) {
                // The servers end the session after its time-out.
            } finally {
                closed.countDown();
            }
        }
    }
}
