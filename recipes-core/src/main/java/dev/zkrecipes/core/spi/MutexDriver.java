// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

import java.util.List;
import java.util.Optional;

/**
 * The first request holds; each of the others waits for its nearest predecessor, so that a release never wakes them
 * all. The nodes are named {@code lock-} as those of Apache Curator's mutex, in the same order. All drivers of this
 * type are equal.
 */
public record MutexDriver() implements FifoDriver {
    private static final String KIND = "lock-";

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
