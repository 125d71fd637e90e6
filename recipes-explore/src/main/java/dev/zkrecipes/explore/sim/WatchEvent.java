// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import dev.zkrecipes.core.spi.port.ZooKeeperOperations.NodeEvent;

/** An event that a server sends to a client that watches a node. */
enum WatchEvent {
    DELETED,
    DATA_CHANGED,
    CHILDREN_CHANGED;

    boolean spends(WatchKind kind) {
        return this == DELETED || this == kind.change();
    }

    /** Returns the event that the engine receives for this one. */
    NodeEvent told() {
        return this == DELETED ? NodeEvent.DELETED : NodeEvent.CHANGED;
    }
}
