// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.rwlock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.explore.ExploredLock;
import dev.zkrecipes.explore.Explorer;
import dev.zkrecipes.explore.Rule;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The same few schedules every time: enough to see a broken engine at once. */
class ReadWriteExplorationTest {
    private static final int SCHEDULES = Integer.getInteger("exploration.schedules", 100);
    private static final int READ = 0;
    private static final int WRITE = 1;
    private static final Rule RULE =
            (front, self) -> self.equals("__READ__") ? !front.contains("__WRIT__") : front.isEmpty();

    private static List<InterProcessLock> modes(ZooKeeperClient client, String path) {
        InterProcessReadWriteLock lock = new InterProcessReadWriteLock(client, path);
        return List.of(lock.readLock(), lock.writeLock());
    }

    @Test
    void bothModes_keepTheirPromises_underSimulatedFaults() {
        Explorer explorer = Explorer.of(ExploredLock.of("read-write lock", RULE, ReadWriteExplorationTest::modes)
                .withNesting(READ, READ)
                .withNesting(WRITE, WRITE)
                .withNesting(WRITE, READ));
        assertThat(explorer.explore(1, SCHEDULES).map(explorer::shrink)).isEmpty();
    }
}
