// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.rwlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockUpgradeException;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.WithZooKeeper;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** From writing to reading, and not the other way round. */
@Timeout(60)
@WithZooKeeper(tickTimeMillis = 100)
class ReadWriteDowngradeIT {
    private static final String PATH = "/locks/catalogue";

    private EmbeddedZooKeeper server;
    private ZooKeeperClient client;
    private ZooKeeperClient other;
    private InterProcessReadWriteLock lock;
    private InterProcessReadWriteLock rival;

    @BeforeEach
    void connect(EmbeddedZooKeeper started) throws InterruptedException {
        server = started;
        client = connected();
        other = connected();
        lock = new InterProcessReadWriteLock(client, PATH);
        rival = new InterProcessReadWriteLock(other, PATH);
    }

    /** With a session so long that no lease is checked beside what is counted. */
    private ZooKeeperClient connected() throws InterruptedException {
        ZooKeeperClient made = ZooKeeperClient.builder()
                .connectString(server.connectString())
                .sessionTimeout(Duration.ofSeconds(60))
                .build();
        assertThat(made.awaitConnected(Duration.ofSeconds(20))).isTrue();
        return made;
    }

    @AfterEach
    void close() {
        client.close();
        other.close();
    }

    @Test
    @Tag("H04")
    void downgrade_keepsThePlaceAndTheToken_andNoQueuedWriterGetsInBetween() throws Exception {
        Lease writing = lock.writeLock().acquire();
        CompletableFuture<Lease> queuedWriter = rival.writeLock().acquireAsync();
        CompletableFuture<Lease> queuedReader = rival.readLock().acquireAsync();
        await().until(() -> server.children(PATH).size() == 3 && server.watchCount() == 2);
        RequestCounts before = server.requests();
        Lease reading = lock.readLock().acquire();
        assertThat(server.requests().minus(before).total()).isEqualTo(1);
        assertThat(reading.fencingToken()).isEqualTo(writing.fencingToken());
        writing.close();
        assertThat(reading.isValid()).isTrue();
        reading.verify();
        assertThat(lock.writeLock().isHeldByCurrentThread()).isFalse();
        assertThat(lock.readLock().isHeldByCurrentThread()).isTrue();
        assertThat(queuedWriter).isNotDone();
        assertThat(queuedReader).isNotDone();
        reading.close();
        Lease next = queuedWriter.get(20, TimeUnit.SECONDS);
        assertThat(next.fencingToken()).isGreaterThan(writing.fencingToken());
        next.close();
        queuedReader.get(20, TimeUnit.SECONDS).close();
        await().until(() -> server.children(PATH).isEmpty());
    }

    @Test
    void downgradedHolder_takesPartAsWriterAndReader() throws Exception {
        Lease writing = lock.writeLock().acquire();
        Lease reading = lock.readLock().acquire();
        assertThat(lock.participants()).hasSize(2).allMatch(Participant::holding);
        assertThat(lock.participants())
                .extracting(InterProcessReadWriteLock::isWriter)
                .containsOnlyOnce(true);
        reading.close();
        writing.close();
    }

    @Test
    @Tag("H31")
    void upgrade_isRefusedAtOnceAndNothingIsSent() throws Exception {
        Lease reading = lock.readLock().acquire();
        RequestCounts before = server.requests();
        InterProcessLock write = lock.writeLock();
        assertThatThrownBy(write::acquire)
                .isInstanceOf(LockUpgradeException.class)
                .hasMessageContaining(PATH);
        assertThatThrownBy(write::tryAcquire).isInstanceOf(LockUpgradeException.class);
        assertThatThrownBy(() -> write.tryAcquire(Duration.ofSeconds(5))).isInstanceOf(LockUpgradeException.class);
        assertThatThrownBy(write.asLock()::lock).isInstanceOf(LockUpgradeException.class);
        assertThat(server.requests().minus(before).total()).isZero();
        assertThat(reading.isValid()).isTrue();
        reading.close();
        write.acquire().close();
    }

    @Test
    @Tag("H03")
    void readerOnADeadWriteHold_isNotLetIn() throws Exception {
        Lease writing = lock.writeLock().acquire();
        server.expireSession(client.zooKeeper().orElseThrow().getSessionId());
        Lease live = rival.writeLock().tryAcquire(Duration.ofSeconds(20)).orElseThrow();
        assertThatThrownBy(lock.readLock()::acquire).isInstanceOf(LockLostException.class);
        assertThat(writing.state()).isEqualTo(LeaseState.LOST);
        assertThat(server.children(PATH)).hasSize(1);
        live.verify();
        writing.close();
        live.close();
        lock.readLock().acquire().close();
    }
}
