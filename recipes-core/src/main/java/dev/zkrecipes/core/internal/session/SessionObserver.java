// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;

/** Hears of the state of a {@link Session}, on the engine thread. */
public interface SessionObserver {

    /** The session is connected, for the first time or again. */
    default void onConnected() {}

    /** The session has ended with {@code state}; a client that can have another one has asked for it already. */
    default void onEnded(State state) {}
}
