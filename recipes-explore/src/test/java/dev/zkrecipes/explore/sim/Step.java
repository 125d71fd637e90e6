// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * One operation of a sequence.
 *
 * @param session the number of the session that does it
 * @param text for people
 */
record Step(int session, String text, Action action) {

    /** Sends it. */
    @FunctionalInterface
    interface Action {
        /**
         * Sends it.
         *
         * @param answer told how to show the answer, once everything is at rest
         */
        void send(Player player, ZooKeeperOperations session, Consumer<Supplier<String>> answer);
    }

    @Override
    public String toString() {
        return "session " + session + ": " + text;
    }
}
