// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.FifoDriver;
import dev.zkrecipes.core.spi.LockNode;
import java.util.List;
import java.util.Optional;

/** The two modes of a lock that is shared, or held alone. */
public enum ModeDriver implements FifoDriver {
    SHARED("read-"),
    EXCLUSIVE("write-");

    private final String kind;

    ModeDriver(String kind) {
        this.kind = kind;
    }

    @Override
    public String nodeName() {
        return kind;
    }

    @Override
    public Optional<LockNode> parse(String childName) {
        return LockNode.parse(childName, SHARED.kind).or(() -> LockNode.parse(childName, EXCLUSIVE.kind));
    }

    @Override
    public Decision decide(List<LockNode> predecessors, LockNode self) {
        if (self.kind().equals(EXCLUSIVE.kind)) {
            return Decision.grantedIfFirst(predecessors);
        }
        for (int i = predecessors.size() - 1; i >= 0; i--) {
            if (predecessors.get(i).kind().equals(EXCLUSIVE.kind)) {
                return Decision.waitFor(predecessors.get(i));
            }
        }
        return Decision.granted();
    }
}
