// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.test.contract.LockDriverContract;
import java.util.List;
import org.junit.jupiter.api.Test;

class GroupDriverTest extends LockDriverContract {
    @Override
    protected List<LockDriver> drivers() {
        return List.of(new GroupLock.Driver("red"), new GroupLock.Driver("green"), new GroupLock.Driver(""));
    }

    @Override
    protected boolean compatible(List<LockNode> holders) {
        return holders.stream().map(LockNode::payload).distinct().count() == 1;
    }

    @Test
    void request_waitsForTheNearestOfAnotherGroup_orHolds() {
        assertEachWaitsForTheNearest((one, other) -> !one.payload().equals(other.payload()));
    }
}
