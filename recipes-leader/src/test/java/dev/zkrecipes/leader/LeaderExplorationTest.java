// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.leader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.explore.ExploredLock;
import dev.zkrecipes.explore.Explorer;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/** The same few schedules every time, with all faults: candidates that leave and candidates that resign on one path. */
class LeaderExplorationTest {
    private static final int SCHEDULES = Integer.getInteger("exploration.schedules", 100);

    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();

    private ExploredLock election(String name, LockOptions options) {
        return ExploredLock.of(
                name, (front, self) -> front.isEmpty(), (client, path) -> candidates(client, path, options));
    }

    private List<InterProcessLock> candidates(ZooKeeperClient client, String path, LockOptions options) {
        return List.of(
                new ElectionAsLock(client, path, options, false, wrong::add),
                new ElectionAsLock(client, path, options, true, wrong::add),
                ElectionAsLock.plain(client, path, options));
    }

    private void explore(ExploredLock lock) {
        Explorer explorer = Explorer.of(lock);
        assertThat(explorer.explore(1, SCHEDULES).map(explorer::shrink)).isEmpty();
        assertThat(wrong).isEmpty();
    }

    @Test
    void terms_keepTheirPromises() {
        explore(election("election", LockOptions.defaults()));
    }

    /** More than one at a time of each process. */
    @Test
    void rivalsInOneProcess_keepTheirPromises() {
        explore(election("rivals", LockOptions.defaults()).withManyRequests());
    }

    @Test
    void limitedTerms_keepTheirPromises() {
        Duration most = Duration.ofMillis(300);
        explore(election("limited terms", LockOptions.defaults().withHoldAtMost(most))
                .withHoldAtMost(most));
    }

    @Test
    void leadersThatAreAskedBack_keepTheirPromises() {
        explore(election("asked back", LockOptions.defaults()).withRevocations());
    }
}
