// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.shedlock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.LockException;
import net.javacrumbs.shedlock.test.support.AbstractExtensibleLockProviderIntegrationTest;
import net.javacrumbs.shedlock.test.support.FuzzTester;
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

    /** Empty also if ZooKeeper has not answered in the second for which a provider waits for a lock that is kept. */
    private Optional<SimpleLock> lockIfAnswered(LockConfiguration configuration) {
        try {
            return provider.lock(configuration);
        } catch (LockException e) {
            assertThat(e).hasCauseInstanceOf(LockConnectionException.class);
            return Optional.empty();
        }
    }

    @Override
    @Test
    public void fuzzTestShouldPass() throws ExecutionException, InterruptedException {
        new FuzzTester(this::lockIfAnswered).doFuzzTest();
    }

    @Override
    @Test
    public void shouldBeAbleToExtendLock() {
        assertExtended(1);
    }

    @Override
    @Test
    public void shouldBeAbleToExtendMultipleTimes() {
        assertExtended(3);
    }

    /** The suite's statements, but for a machine that comes to the first extension when the lock is lost already. */
    private void assertExtended(int times) {
        Duration first = Duration.ofSeconds(2);
        SimpleLock extended = Soon.await()
                .until(() -> lockAndExtend(first), Optional::isPresent)
                .orElseThrow();
        for (int i = 1; i < times; i++) {
            extended = extended.extend(Duration.ofHours(1), Duration.ZERO).orElseThrow();
        }
        sleepFor(first);
        assertLocked(LOCK_NAME1);
        extended.unlock();
        assertUnlocked(LOCK_NAME1);
    }

    private Optional<SimpleLock> lockAndExtend(Duration first) {
        assertUnlocked(LOCK_NAME1); // by the attempt before
        long before = System.nanoTime();
        SimpleLock lock =
                provider.lock(lockConfig(LOCK_NAME1, first, Duration.ZERO)).orElseThrow();
        Optional<SimpleLock> extended = lock.extend(Duration.ofHours(1), Duration.ZERO);
        if (extended.isEmpty()) {
            assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThanOrEqualTo(first);
        }
        return extended;
    }

    /** The suite's statements, but for the end of the time, which a busy machine may notice late. */
    @Override
    @Test
    public void shouldLockAtLeastFor() {
        Duration least = Duration.ofSeconds(1);
        Optional<SimpleLock> lock = Optional.empty();
        long before = 0;
        while (lock.isEmpty()) {
            before = System.nanoTime();
            lock = lockIfAnswered(lockConfig(LOCK_NAME1, least.multipliedBy(2), least));
        }
        lock.get().unlock();
        Optional<SimpleLock> next =
                Soon.await().until(() -> provider.lock(lockConfig(LOCK_NAME1)), Optional::isPresent);
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThanOrEqualTo(least);
        next.orElseThrow().unlock();
    }
}
