// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

import java.util.List;
import java.util.Optional;

/**
 * The queue of a lock and its rule, as one request showed them.
 *
 * @param rule the data of the lock's node, under a {@link SharedRuleDriver}; empty if there is no such node yet
 * @param places the nodes of the lock, in order
 */
public record LockSnapshot(Optional<byte[]> rule, List<Place> places) {

    /**
     * One node in the queue.
     *
     * @param node the node
     * @param holding whether it holds the lock; otherwise it waits
     */
    public record Place(LockNode node, boolean holding) {}
}
