// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.test.contract.LockDriverContract;
import java.util.List;

class SeatsDriverTest extends LockDriverContract {
    @Override
    protected List<LockDriver> drivers() {
        return List.of(new Seats.Driver(3));
    }

    @Override
    protected boolean compatible(List<LockNode> holders) {
        return holders.size() <= 3;
    }
}
