// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.multilock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.explore.ExploredLock;
import dev.zkrecipes.explore.Explorer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The same few schedules every time: enough to see a broken engine at once. */
class MultiLockExplorationTest {
    private static final int SCHEDULES = Integer.getInteger("exploration.schedules", 100);

    @Test
    void locksOnSomeOfThreePaths_keepTheirPromises() {
        Explorer explorer = Explorer.of(
                ExploredLock.of("multi-lock", (front, self) -> front.isEmpty(), MultiLockExplorationTest::locks)
                        .withNesting(0, 0));
        assertThat(explorer.explore(1, SCHEDULES).map(explorer::shrink)).isEmpty();
    }

    /** In several orders, and one of a single path. */
    private static List<InterProcessLock> locks(ZooKeeperClient client, String path) {
        return List.of(
                new InterProcessMultiLock(client, List.of(path + "/x", path + "/y")),
                new InterProcessMultiLock(client, List.of(path + "/y", path + "/x", path + "/z")),
                new InterProcessMultiLock(client, List.of(path + "/z", path + "/y")),
                new InterProcessMultiLock(client, List.of(path + "/x")));
    }
}
