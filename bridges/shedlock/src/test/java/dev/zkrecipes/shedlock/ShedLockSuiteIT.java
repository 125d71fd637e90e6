// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.shedlock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.Optional;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.test.support.AbstractExtensibleLockProviderIntegrationTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** ShedLock's own tests of providers. They sleep for a time and look; where nobody says how late that may be, wait. */
@Timeout(600)
@WithZooKeeper
class ShedLockSuiteIT extends AbstractExtensibleLockProviderIntegrationTest {
    private final EmbeddedZooKeeper server;
    private ZooKeeperClient client;
    private ZooKeeperLockProvider provider;

    ShedLockSuiteIT(EmbeddedZooKeeper server) {
        this.server = server;
    }

    @BeforeEach
    void connect() throws InterruptedException {
        client = TestClients.connect(server.connectString(), Duration.ofSeconds(60));
        provider = new ZooKeeperLockProvider(client, "/jobs");
    }

    @AfterEach
    void close() {
        client.close();
    }

    @Override
    protected ExtensibleLockProvider getLockProvider() {
        return provider;
    }

    @Override
    protected void assertUnlocked(String lockName) {
        Soon.await().until(() -> server.children("/jobs/" + lockName).isEmpty());
    }

    @Override
    protected void assertLocked(String lockName) {
        assertThat(server.children("/jobs/" + lockName)).hasSize(1);
    }

    /** The suite's statements, but for the end of the time, which a busy machine may notice late. */
    @Override
    @Test
    public void shouldLockAtLeastFor() {
        Duration least = Duration.ofSeconds(1);
        long before = System.nanoTime();
        SimpleLock lock = provider.lock(lockConfig(LOCK_NAME1, least.multipliedBy(2), least))
                .orElseThrow();
        lock.unlock();
        assertThat(provider.lock(lockConfig(LOCK_NAME1))).isEmpty();
        Optional<SimpleLock> next =
                Soon.await().until(() -> provider.lock(lockConfig(LOCK_NAME1)), Optional::isPresent);
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThanOrEqualTo(least);
        next.orElseThrow().unlock();
    }
}
