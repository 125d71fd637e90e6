// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockObserver;
import dev.zkrecipes.core.internal.acquire.Requests;
import dev.zkrecipes.core.internal.session.SessionSource;
import dev.zkrecipes.core.internal.thread.Callbacks;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A client, as its locks see it. */
public interface LockHost {
    EngineScheduler scheduler();

    Callbacks callbacks();

    List<LockObserver> observers();

    SessionSource sessions();

    Requests requests();

    /** What its threads wait to be answered. */
    Questions questions();

    /** How long a call that needs one answer waits for it. */
    Duration requestTimeout();

    ConnectionState connectionState();

    /** Ends the client, as nobody knows any more what it holds. */
    default void fail(RuntimeException why) {
        scheduler().execute(() -> {
            throw why;
        });
    }

    String ownerLabel();

    /** An error that tells of the missing connection, and then of the consequence and what to do. */
    LockException notConnected(String consequence);

    void requireOpenFor(String lockPath);

    /**
     * Waits for the future, whatever its end, at most for the request time-out and as long as there is a connection.
     */
    void awaitWhileConnected(CompletableFuture<Void> future);
}
