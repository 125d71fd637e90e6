// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import java.util.Optional;

/** A driver whose nodes are called {@code lock-}, so that a test writes nothing but the rule. */
@FunctionalInterface
public interface LockNodeDriver extends LockDriver {
    @Override
    default String nodeName() {
        return "lock-";
    }

    @Override
    default Optional<LockNode> parse(String childName) {
        return LockNode.parse(childName, nodeName());
    }
}
