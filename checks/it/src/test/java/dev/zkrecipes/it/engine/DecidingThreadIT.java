// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;

/** Which thread decides: the answer to a list is looked at where it arrives only if that thread is the client's own. */
class DecidingThreadIT extends ServerStage {
    private static final int CYCLES = 50;
    private static final String EVENT_THREAD = "EventThread";

    private final Set<String> deciding = ConcurrentHashMap.newKeySet();

    private InterProcessLock lock(ZooKeeperClient client) {
        return new LockInternals(
                        client,
                        "/decided",
                        new StubDriver((front, self) -> {
                            deciding.add(Thread.currentThread().getName());
                            return Decision.grantedIfFirst(front);
                        }),
                        LockOptions.defaults())
                .threadOwned();
    }

    private static void cycle(InterProcessLock lock) throws InterruptedException {
        try (Lease lease = lock.acquire()) {
            Soon.await().until(lease::isValid);
        }
    }

    @Test
    void idleEngine_decidesOnTheEventThreadOfTheClientsOwnHandle() throws Exception {
        ZooKeeperClient client = client();
        InterProcessLock lock = lock(client);
        await().until(() -> {
            cycle(lock);
            return deciding.stream().anyMatch(name -> name.contains(EVENT_THREAD));
        });
    }

    @Test
    void besideAnExecutorOfTheApplications_theEngineDecides() throws Exception {
        ZooKeeperClient client = client(settings().callbackExecutor(Runnable::run));
        assertOnlyTheEngineDecides(client);
    }

    @Test
    void applicationsEventThread_decidesNothing() throws Exception {
        int session = (int) TestClients.LONG_SESSION.toMillis();
        ZooKeeper handle = opened(new ZooKeeper(server.connectString(), session, event -> {}));
        ZooKeeperClient client = opened(ZooKeeperClient.wrap(handle));
        assertOnlyTheEngineDecides(client);
    }

    private void assertOnlyTheEngineDecides(ZooKeeperClient client) throws InterruptedException {
        InterProcessLock lock = lock(client);
        for (int i = 0; i < CYCLES; i++) {
            cycle(lock);
        }
        assertThat(deciding).isNotEmpty().noneMatch(name -> name.contains(EVENT_THREAD));
    }
}
