// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.mutex;

import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.test.contract.LockDriverContract;
import java.util.List;
import org.junit.jupiter.api.Test;

class MutexDriverContractTest extends LockDriverContract {
    @Override
    protected List<LockDriver> drivers() {
        return List.of(new MutexDriver());
    }

    @Override
    protected boolean compatible(List<LockNode> holders) {
        return holders.size() == 1;
    }

    @Test
    void request_waitsForTheNearestOne() {
        assertEachWaitsForTheNearest((one, other) -> true);
    }
}
