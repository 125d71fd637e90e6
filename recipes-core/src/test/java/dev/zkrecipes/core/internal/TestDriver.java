// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import java.util.List;
import java.util.Optional;

/** So many may hold it together; a mutex under another name, if that is not said. */
public record TestDriver(String nodeName, int most) implements LockDriver {

    public TestDriver(String nodeName) {
        this(nodeName, 1);
    }

    @Override
    public Optional<LockNode> parse(String childName) {
        return LockNode.parse(childName, nodeName);
    }

    @Override
    public Decision decide(List<LockNode> predecessors, LockNode self) {
        return predecessors.size() < most ? Decision.granted() : Decision.waitFor(predecessors);
    }
}
