// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.mutex;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.explore.ExploredLock;
import dev.zkrecipes.explore.Explorer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The same few schedules every time: enough to see a broken engine at once. */
class MutexExplorationTest {
    private static final int SCHEDULES = Integer.getInteger("exploration.schedules", 100);

    @Test
    void mutex_keepsItsPromises_underSimulatedFaults() {
        Explorer explorer = Explorer.of(ExploredLock.of(
                        "mutex",
                        (front, self) -> front.isEmpty(),
                        (client, path) -> List.of(new InterProcessMutex(client, path)))
                .withNesting(0, 0));
        assertThat(explorer.explore(1, SCHEDULES).map(explorer::shrink)).isEmpty();
    }

    /** Leases are lost in the middle of everything: of a release, of a loss for another reason. */
    @Test
    void mutexWithHoldAtMost_keepsItsPromises() {
        LockOptions options = LockOptions.defaults().withHoldAtMost(Duration.ofMillis(300));
        Explorer explorer = Explorer.of(ExploredLock.of(
                        "mutex, held at most",
                        (front, self) -> front.isEmpty(),
                        (client, path) -> List.of(new InterProcessMutex(client, path, options)))
                .withNesting(0, 0));
        assertThat(explorer.explore(1, SCHEDULES).map(explorer::shrink)).isEmpty();
    }
}
