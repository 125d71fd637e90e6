// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.MutexDriver;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;

/** A driver on the mutex's nodes that decides as the test tells it. */
record StubDriver(BiFunction<List<LockNode>, LockNode, Decision> rule) implements LockDriver {
    private static final MutexDriver MUTEX = new MutexDriver();

    @Override
    public String nodeName() {
        return MUTEX.nodeName();
    }

    @Override
    public Optional<LockNode> parse(String childName) {
        return MUTEX.parse(childName);
    }

    @Override
    public Decision decide(List<LockNode> predecessors, LockNode self) {
        return rule.apply(predecessors, self);
    }
}
