// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.handoff;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.QueueLossPolicy;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.explore.ExploredLock;
import dev.zkrecipes.explore.Explorer;
import dev.zkrecipes.mutex.InterProcessMutex;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The same few schedules every time: mutexes that pass on and mutexes in strict order on one path, with all faults. */
class HandoffExplorationTest {
    private static final int SCHEDULES = Integer.getInteger("exploration.schedules", 100);
    private static final int MOST = 2;
    private static final LockOptions DEFAULTS = LockOptions.defaults();

    private static ExploredLock mutex(String name, LockOptions options) {
        return ExploredLock.of(
                        name, (front, self) -> front.isEmpty(), (client, path) -> bothOrders(client, path, options))
                .withLocalHandoffs(MOST)
                .withNesting(0, 0)
                .withNesting(1, 1);
    }

    private static List<InterProcessLock> bothOrders(ZooKeeperClient client, String path, LockOptions options) {
        InterProcessLock passedOn = new HandoffMutex(client, path, MOST, options);
        return List.of(passedOn, new InterProcessMutex(client, path, options), passedOn, passedOn);
    }

    /** A node is kept while the processes do something else, and may then have as many holders as its token allows. */
    private static ExploredLock kept(String name, LockOptions options) {
        return ExploredLock.of(name, (front, self) -> front.isEmpty(), (client, path) -> {
                    InterProcessLock kept =
                            new HandoffMutex(client, path, MOST, options).keepFor(Duration.ofSeconds(1));
                    return List.of(kept, new InterProcessMutex(client, path, options), kept, kept);
                })
                .withLocalHandoffs(HandoffMutex.MOST_HANDOFFS)
                .withNesting(0, 0)
                .withNesting(1, 1);
    }

    private static void explore(ExploredLock lock) {
        Explorer explorer = Explorer.of(lock);
        assertThat(explorer.explore(1, SCHEDULES).map(explorer::shrink)).isEmpty();
    }

    @Test
    @Tag("H125")
    void passedOn_keepsItsPromises() {
        explore(mutex("passed on", DEFAULTS));
    }

    /** Leases are lost in the middle of everything: of a release, of a hand-over, of a loss for another reason. */
    @Test
    void heldAtMost_keepsItsPromises() {
        Duration most = Duration.ofMillis(300);
        explore(mutex("passed on, held at most", DEFAULTS.withHoldAtMost(most)).withHoldAtMost(most));
    }

    @Test
    void askedBack_keepsItsPromises() {
        explore(mutex("passed on, asked back", DEFAULTS).withRevocations());
    }

    @Test
    @Tag("H170")
    void kept_keepsItsPromises() {
        explore(kept("kept", DEFAULTS));
    }

    @Test
    void keptAndAskedBack_keepsItsPromises() {
        explore(kept("kept, asked back", DEFAULTS).withRevocations());
    }

    @Test
    void keptWithWaitersThatFail_keepsItsPromises() {
        explore(kept("kept, failing", DEFAULTS.withQueueLossPolicy(QueueLossPolicy.FAIL))
                .withPlacesLost());
    }

    @Test
    void waitersThatFail_keepItsPromises() {
        explore(mutex("passed on, failing", DEFAULTS.withQueueLossPolicy(QueueLossPolicy.FAIL))
                .withPlacesLost());
    }
}
