// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import java.util.List;
import java.util.Optional;

/** Grants every request. */
public record GrantingDriver() implements LockDriver {
    @Override
    public String nodeName() {
        return "lock-";
    }

    @Override
    public Optional<LockNode> parse(String childName) {
        return LockNode.parse(childName, "lock-");
    }

    @Override
    public Decision decide(List<LockNode> predecessors, LockNode self) {
        return Decision.granted();
    }
}
