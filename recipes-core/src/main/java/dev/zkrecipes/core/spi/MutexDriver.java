// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The first request holds; every other request waits for its nearest predecessor, so that a release never wakes them
 * all. Drivers with the same node name are equal.
 *
 * @param nodeName how the nodes are named: {@code lock-} as those of Apache Curator's mutex, {@code latch-} as those of
 *     its {@code LeaderLatch}, or with any other kind
 */
public record MutexDriver(String nodeName) implements FifoDriver {
    /** Creates the driver of a mutex, whose nodes are named {@code lock-}. */
    public MutexDriver() {
        this("lock-");
    }

    /**
     * Creates the driver of any queue whose first request holds.
     *
     * @param nodeName how the nodes are named
     */
    public MutexDriver {
        Objects.requireNonNull(nodeName, "nodeName");
    }

    @Override
    public Optional<LockNode> parse(String childName) {
        return LockNode.parse(childName, nodeName);
    }

    @Override
    public Decision decide(List<LockNode> predecessors, LockNode self) {
        return Decision.grantedIfFirst(predecessors);
    }
}
