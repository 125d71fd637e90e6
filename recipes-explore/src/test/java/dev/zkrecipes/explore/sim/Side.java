// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** One of the two that are compared: the simulated ensemble or a real server. */
interface Side {
    /** Makes the node that a sequence plays below; its counter begins there. */
    void makeBase(String path, int counter);

    /** Opens a session and waits until it is connected. */
    ZooKeeperOperations open();

    /** Takes the connection of the session away that was opened first. */
    void leave();

    /** Lets it connect again, and waits until it has been told what it missed. */
    void comeBack();

    /** Removes empty containers, as a leader does every minute. */
    void reapContainers();

    /** Waits until something has been answered. */
    <T> T await(CompletableFuture<T> answer);

    /** Waits until all that the last operation caused has been reported to all. */
    void settle();

    /** The newest transaction's number. */
    long lastZxid();

    /** Those of the nodes on which the server has a data watch. */
    Set<String> watched(Set<String> candidates);

    /** Those of the nodes on which the server has a watch for children, or for the deletion alone. */
    Set<String> watchedForDeletion(Set<String> candidates);
}
