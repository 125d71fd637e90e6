// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.Revocation;
import dev.zkrecipes.core.RevocationOutcome;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.mutex.InterProcessSemaphoreMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** Requests to give back a lock that has several nodes or several holders. */
@Timeout(600)
@WithZooKeeper
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RevocationOfEveryKindIT {
    private ZooKeeperClient client;
    private ZooKeeperClient other;
    private Revoker revoker;

    @BeforeAll
    void connect(EmbeddedZooKeeper server) throws InterruptedException {
        client = connected(server);
        other = connected(server);
        revoker = new Revoker(other);
    }

    private static ZooKeeperClient connected(EmbeddedZooKeeper server) throws InterruptedException {
        return TestClients.connect(server.connectString());
    }

    @AfterAll
    void close() {
        client.close();
        other.close();
    }

    private static List<RevocationRequest> listen(Lease lease) {
        List<RevocationRequest> heard = new CopyOnWriteArrayList<>();
        lease.onRevocationRequested(heard::add);
        return heard;
    }

    private static void assertAll(List<Revocation> asked, RevocationOutcome expected) {
        assertThat(asked)
                .allSatisfy(
                        revocation -> assertThat(Soon.get(revocation.outcome())).isEqualTo(expected));
    }

    @Test
    void multiLockOfEveryKind_isRevokedOncePerRequest() throws Exception {
        InterProcessMultiLock all = new InterProcessMultiLock(List.of(
                new InterProcessMutex(client, "/every/mutex"),
                new InterProcessSemaphoreMutex(client, "/every/semaphore-mutex"),
                new InterProcessReadWriteLock(client, "/every/read").readLock(),
                new InterProcessReadWriteLock(client, "/every/write").writeLock(),
                new InterProcessSemaphore(client, "/every/semaphore", 3).permits(2)));
        Lease lease = all.acquire();
        List<RevocationRequest> heard = listen(lease);
        List<Revocation> asked = new ArrayList<>(revoker.request(all));
        assertThat(asked).hasSize(5);
        await().until(() -> heard.size() == 1);
        for (Participant member : all.participants()) {
            int before = heard.size();
            asked.add(revoker.request(member));
            await().until(() -> heard.size() > before);
        }
        assertThat(heard).hasSize(6).doesNotHaveDuplicates();
        lease.close();
        assertAll(asked, RevocationOutcome.GIVEN_BACK);
    }

    @Test
    void multiLockOfSeveralClients_isRevokedOncePerRequest() throws Exception {
        InterProcessLock mixed = new InterProcessMultiLock(List.of(
                new InterProcessMutex(client, "/mixed/mine"),
                new InterProcessMutex(other, "/mixed/others"),
                Foreign.of(new InterProcessMutex(other, "/mixed/foreign"))));
        Lease lease = mixed.acquire();
        Lease again = mixed.acquire();
        List<RevocationRequest> heard = listen(lease);
        List<RevocationRequest> heardAgain = listen(again);
        List<Revocation> asked = new ArrayList<>(revoker.request(mixed));
        assertThat(asked).hasSize(3);
        await().until(() -> heard.size() == 1 && heardAgain.size() == 1);
        again.close();
        asked.addAll(revoker.request(mixed));
        await().until(() -> heard.size() == 2);
        lease.close();
        assertAll(asked, RevocationOutcome.GIVEN_BACK);
        assertThat(heard).hasSize(2);
        assertThat(heardAgain).hasSize(1);
    }

    @Test
    @Tag("H60")
    void allReaders_areRevoked_andAWaitingWriterIsNot() throws Exception {
        InterProcessReadWriteLock mine = new InterProcessReadWriteLock(client, "/readers");
        InterProcessReadWriteLock others = new InterProcessReadWriteLock(other, "/readers");
        Lease first = mine.readLock().acquire();
        Lease second = others.readLock().acquire();
        CompletableFuture<Lease> writer = others.writeLock().acquireAsync();
        await().until(() -> mine.readLock().participants().size() == 3);
        List<RevocationRequest> heardFirst = listen(first);
        List<RevocationRequest> heardSecond = listen(second);
        List<Revocation> asked = revoker.request(others.writeLock());
        assertThat(asked).hasSize(2);
        await().until(() -> heardFirst.size() == 1 && heardSecond.size() == 1);
        first.close();
        List<Revocation> askedAgain = revoker.request(mine.readLock());
        assertThat(askedAgain).hasSize(1);
        await().until(() -> heardSecond.size() == 2);
        assertThat(heardFirst).hasSize(1);
        second.close();
        assertAll(asked, RevocationOutcome.GIVEN_BACK);
        assertAll(askedAgain, RevocationOutcome.GIVEN_BACK);
        Lease writing = Soon.get(writer);
        List<RevocationRequest> heardWriting = listen(writing);
        revoker.request(mine.readLock());
        await().until(() -> heardWriting.size() == 1);
        Soon.get(writing.closeAsync());
    }

    @Test
    void readingWriter_isRevokedForBoth() throws Exception {
        InterProcessReadWriteLock lock = new InterProcessReadWriteLock(client, "/downgrade");
        Lease writing = lock.writeLock().acquire();
        Lease reading = lock.readLock().acquire();
        List<RevocationRequest> heardWriting = listen(writing);
        List<RevocationRequest> heardReading = listen(reading);
        assertThat(revoker.request(lock.readLock())).hasSize(2);
        await().until(() -> heardWriting.size() == 1 && heardReading.size() == 1);
        assertThat(heardReading).isEqualTo(heardWriting);
        writing.close();
        revoker.request(lock.readLock());
        await().until(() -> heardReading.size() == 2);
        reading.close();
        assertThat(heardWriting).hasSize(1);
    }

    @Test
    void oneHolderOfPermits_isRevoked_andTheOthersAreNot() throws Exception {
        InterProcessSemaphore semaphore = new InterProcessSemaphore(client, "/permits", 5);
        Lease small = semaphore.acquire(1);
        Lease large = semaphore.acquire(3);
        List<RevocationRequest> heardSmall = listen(small);
        List<RevocationRequest> heardLarge = listen(large);
        Participant greatest = semaphore.participants().stream()
                .filter(holder -> InterProcessSemaphore.permitsOf(holder) == 3)
                .findFirst()
                .orElseThrow();
        CompletableFuture<Lease> wanted = new InterProcessSemaphore(other, "/permits", 5).acquireAsync(4);
        Revocation revocation = revoker.withGrace(Duration.ofMillis(50)).request(greatest);
        assertThat(Soon.get(revocation.outcome())).isEqualTo(RevocationOutcome.BROKEN);
        assertThat(Soon.get(large.ended())).isEqualTo(LeaseState.LOST);
        Soon.get(Soon.get(wanted).closeAsync());
        assertThat(heardLarge).hasSizeLessThanOrEqualTo(1); // it may be broken before it has looked
        assertThat(heardSmall).isEmpty();
        Soon.await().until(small::isValid);
        assertThat(revoker.request(semaphore.permits(1))).hasSize(1);
        await().until(() -> heardSmall.size() == 1);
        small.close();
        large.close();
    }
}
