// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import java.util.List;
import java.util.Optional;

/** A mutex under another name. */
public record TestDriver(String nodeName) implements LockDriver {

    @Override
    public Optional<LockNode> parse(String childName) {
        return LockNode.parse(childName, nodeName);
    }

    @Override
    public Decision decide(List<LockNode> predecessors, LockNode self) {
        return predecessors.isEmpty() ? Decision.granted() : Decision.waitFor(predecessors);
    }
}
