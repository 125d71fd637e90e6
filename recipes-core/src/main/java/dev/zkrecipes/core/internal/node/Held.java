// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.node;

import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.internal.queue.LockSpec;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.Op;

/**
 * What holds stand on: a node of the engine, or what a foreign lock has acquired. It ends once, as RELEASED or as LOST.
 * Thread-safe.
 */
public interface Held {
    /** Has to know when it has ended. */
    @FunctionalInterface
    interface Listener {
        void onEnded(Held held, LeaseState how);
    }

    /** Hears what becomes of it, and changes nothing. */
    interface Observer {
        /** It was given back; told on the thread that does so. */
        void onReleased();

        /** It was lost; told on any thread, and must not block. */
        void onLost(String reason);

        /** Somebody asks for the lock back, and the application was told. */
        void onRevocationRequested();
    }

    /** The lock that it is of. */
    LockSpec spec();

    LeaseState state();

    /** Whether the state is LOST, which may take less to find out than the state. */
    boolean isLost();

    /** Whether it is lost as far as is known, without a look at the clock. */
    boolean isKnownAsLost();

    /** Whether nothing is left to give back. */
    boolean hasEnded();

    /** The error for who uses it though it is lost. */
    LockLostException lost();

    default void requireNotLost() {
        if (isLost()) {
            throw lost();
        }
    }

    /** The fencing tokens by path. */
    Map<String, Long> tokens();

    /** Checks of what it stands on. */
    List<Op> guards();

    /** Sets the only listener, which is told when it has ended, at once if it has. */
    void attach(Listener only);

    /** Sets the only observer, which is told of the end once. */
    void observe(Observer only);

    /**
     * Gives it back, unless it was.
     *
     * @param waits whether the caller waits for the future, so that what has to block may do so here
     * @return completes when it is known to be gone
     */
    CompletableFuture<Void> release(boolean waits);
}
