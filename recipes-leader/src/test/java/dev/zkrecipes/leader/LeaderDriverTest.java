// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.leader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.test.contract.LockDriverContract;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class LeaderDriverTest extends LockDriverContract {
    @Override
    protected List<LockDriver> drivers() {
        return List.of(new MutexDriver("latch-"));
    }

    @Override
    protected boolean compatible(List<LockNode> holders) {
        return holders.size() == 1;
    }

    @Test
    void candidate_waitsForTheNearestOne() {
        assertEachWaitsForTheNearest((one, other) -> true);
    }

    @Test
    void nodeOfCuratorsLatch_isACandidate() {
        String name = "_c_2aa02b63-5c5a-4b0f-9e6f-3f2d8a0ae4b8-latch-0000000017";
        assertThat(new MutexDriver("latch-").parse(name).map(LockNode::number)).isEqualTo(Optional.of(17L));
    }
}
