// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.internal.LockNodeDriver;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.SharedRuleDriver;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Lets in as many as the limit was when the path was listed. */
record LimitDriver(AtomicInteger limit) implements SharedRuleDriver, LockNodeDriver {
    @Override
    public byte[] initialRule() {
        return new byte[] {1};
    }

    @Override
    public LockDriver under(byte[] rule) {
        return new TestDriver("lock-", limit.get());
    }

    @Override
    public Decision decide(List<LockNode> predecessors, LockNode self) {
        return new TestDriver("lock-").decide(predecessors, self);
    }
}
