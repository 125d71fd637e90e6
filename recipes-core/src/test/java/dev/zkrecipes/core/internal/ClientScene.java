// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.Ports;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/** A client whose engine runs when the test says so, and whose sessions answer what the test says. */
public abstract class ClientScene {
    protected final ManualScheduler scheduler = new ManualScheduler();
    protected final ScriptedOperations operations = new ScriptedOperations(scheduler);
    protected final ZooKeeperClient client;
    private Consumer<State> states = state -> {};
    private boolean canOpen = true;

    protected ClientScene() {
        this(builder -> builder);
    }

    protected ClientScene(UnaryOperator<ZooKeeperClientBuilder> settings) {
        client = settings.apply(Ports.clientBuilder(
                                told -> {
                                    if (!canOpen) {
                                        throw new IllegalStateException("no handle");
                                    }
                                    states = told;
                                    return operations;
                                },
                                scheduler)
                        .callbackExecutor(Runnable::run))
                .build();
    }

    protected final LockInternals internals(String path, LockDriver driver) {
        return new LockInternals(client, path, driver, LockOptions.defaults());
    }

    protected final LockInternals internals(String path, LockOptions options) {
        return new LockInternals(client, path, new MutexDriver(), options);
    }

    /** A mutex of the thread. */
    protected final InterProcessLock lock(String path, LockOptions options) {
        return internals(path, options).threadOwned();
    }

    protected final InterProcessLock lock(String path) {
        return lock(path, LockOptions.defaults());
    }

    /** A request that has gone on as far as it can. */
    @CanIgnoreReturnValue
    protected final CompletableFuture<Lease> asked(InterProcessLock lock) {
        CompletableFuture<Lease> wanted = lock.acquireAsync();
        scheduler.run();
        return wanted;
    }

    /** Whether sessions can be opened. */
    protected final void setCanOpen(boolean can) {
        canOpen = can;
    }

    /** The session changes its state. */
    protected final void become(State state) {
        if (state.isFinal()) {
            operations.forgetWatches();
        }
        states.accept(state);
    }

    protected final void reconnect() {
        become(State.DISCONNECTED);
        become(State.CONNECTED);
    }
}
