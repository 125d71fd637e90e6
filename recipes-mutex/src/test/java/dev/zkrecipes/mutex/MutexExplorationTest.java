// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.mutex;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.test.explore.ExploredLock;
import dev.zkrecipes.test.explore.Explorer;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The same few schedules every time: enough to see a broken engine at once. */
@Tag("load")
class MutexExplorationTest {
    private static final int SCHEDULES = Integer.getInteger("exploration.schedules", 200);

    @Test
    void mutexUnderSimulatedFaults_keepsItsPromises() {
        Explorer explorer = Explorer.of(ExploredLock.of(
                        "mutex",
                        (front, self) -> front.isEmpty(),
                        (client, path) -> List.of(new InterProcessMutex(client, path)))
                .withNesting(0, 0));
        assertThat(explorer.explore(1, SCHEDULES).map(explorer::shrink)).isEmpty();
    }
}
