// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.leader;

import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.FifoDriver;
import dev.zkrecipes.core.spi.LockNode;
import java.util.List;
import java.util.Optional;

/**
 * The first candidate leads; each of the others waits for its nearest predecessor. The nodes are named {@code latch-}
 * as those of Apache Curator's {@code LeaderLatch}, in the same order.
 */
record LeaderDriver() implements FifoDriver {
    private static final String KIND = "latch-";

    @Override
    public String nodeName() {
        return KIND;
    }

    @Override
    public Optional<LockNode> parse(String childName) {
        return LockNode.parse(childName, KIND);
    }

    @Override
    public Decision decide(List<LockNode> predecessors, LockNode self) {
        return Decision.grantedIfFirst(predecessors);
    }
}
