// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.contender;

import dev.zkrecipes.bench.measure.Cycle;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A lock of ours, taken and given back. */
final class LeaseCycle implements Cycle {
    private final InterProcessLock lock;
    private final Consumer<Lease> giveBack;
    private @Nullable Lease lease;

    LeaseCycle(InterProcessLock lock, Consumer<Lease> giveBack) {
        this.lock = lock;
        this.giveBack = giveBack;
    }

    @Override
    public void acquire() throws InterruptedException {
        lease = lock.acquire();
    }

    @Override
    public void release() {
        giveBack.accept(Objects.requireNonNull(lease));
    }
}
