// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import java.util.List;
import java.util.Optional;

/** One of the two modes of a lock, {@code read-} or {@code write-}; neither shares the lock. */
public record ModeDriver(String nodeName) implements LockDriver {
    @Override
    public Optional<LockNode> parse(String childName) {
        return LockNode.parse(childName, "read-").or(() -> LockNode.parse(childName, "write-"));
    }

    @Override
    public Decision decide(List<LockNode> predecessors, LockNode self) {
        return Decision.grantedIfFirst(predecessors);
    }
}
