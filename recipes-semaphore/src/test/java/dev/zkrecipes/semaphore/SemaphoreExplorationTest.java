// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.semaphore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.explore.ExploredLock;
import dev.zkrecipes.explore.Explorer;
import dev.zkrecipes.explore.Rule;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The same few schedules every time: enough to see a broken engine at once. */
class SemaphoreExplorationTest {
    private static final int SCHEDULES = Integer.getInteger("exploration.schedules", 100);
    private static final int MAX_LEASES = 3;
    private static final Rule RULE = (front, self) ->
            front.stream().mapToInt(SemaphoreExplorationTest::permits).sum() + permits(self) <= MAX_LEASES;

    private static List<InterProcessLock> weights(ZooKeeperClient client, String path) {
        InterProcessSemaphore semaphore = new InterProcessSemaphore(client, path, MAX_LEASES);
        return List.of(semaphore.permits(1), semaphore.permits(2), semaphore.permits(MAX_LEASES));
    }

    /** Of a node called {@code lease.<permits>-}. */
    private static int permits(String kind) {
        return Integer.parseInt(kind.substring(kind.indexOf('.') + 1, kind.length() - 1));
    }

    @Test
    void allWeights_keepTheirPromises_underSimulatedFaults() {
        Explorer explorer = Explorer.of(ExploredLock.of("semaphore", RULE, SemaphoreExplorationTest::weights));
        assertThat(explorer.explore(1, SCHEDULES).map(explorer::shrink)).isEmpty();
    }
}
