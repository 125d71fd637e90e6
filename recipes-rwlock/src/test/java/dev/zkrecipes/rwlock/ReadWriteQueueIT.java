// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.rwlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.Soon;
import dev.zkrecipes.test.WithZooKeeper;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/** The order in which readers and writers are let in, what is seen of it, and the tokens that follow from it. */
@Timeout(60)
@WithZooKeeper
class ReadWriteQueueIT {
    private final EmbeddedZooKeeper server;
    private final String path;
    private ZooKeeperClient client;
    private ZooKeeperClient other;
    private InterProcessReadWriteLock lock;
    private InterProcessReadWriteLock rival;

    ReadWriteQueueIT(EmbeddedZooKeeper server, TestInfo test) {
        this.server = server;
        this.path = "/queues/" + test.getTestMethod().orElseThrow().getName();
    }

    @BeforeEach
    void connect() throws InterruptedException {
        client = connected("one");
        other = connected("another");
        lock = new InterProcessReadWriteLock(client, path);
        rival = new InterProcessReadWriteLock(other, path);
    }

    private ZooKeeperClient connected(String label) throws InterruptedException {
        ZooKeeperClient made = ZooKeeperClient.builder()
                .connectString(server.connectString())
                .ownerLabel(label)
                .build();
        assertThat(made.awaitConnected(Duration.ofSeconds(20))).isTrue();
        return made;
    }

    @AfterEach
    void close() {
        client.close();
        other.close();
    }

    private void awaitNodes(int count) {
        Soon.await().until(() -> server.children(path).size() == count);
    }

    @Test
    void readersHoldTogether_andAWriterWaitsForTheLastOfThem() throws Exception {
        Lease one = lock.readLock().acquire();
        Lease two = rival.readLock().tryAcquire().orElseThrow();
        CompletableFuture<Lease> writer = rival.writeLock().acquireAsync();
        awaitNodes(3);
        two.close();
        assertThat(lock.participants())
                .extracting(InterProcessReadWriteLock::isWriter)
                .containsExactly(false, true);
        assertThat(writer).isNotDone();
        one.close();
        Soon.get(writer).close();
    }

    @Test
    void readerBehindAWaitingWriter_doesNotPassIt() throws Exception {
        Lease reading = lock.readLock().acquire();
        CompletableFuture<Lease> writer = rival.writeLock().acquireAsync();
        awaitNodes(2);
        CompletableFuture<Lease> reader = rival.readLock().acquireAsync();
        awaitNodes(3);
        assertThat(rival.readLock().tryAcquire()).isEmpty();
        assertThat(lock.participants()).extracting(Participant::holding).containsExactly(true, false, false);
        assertThat(reader).isNotDone();
        reading.close();
        Lease writing = Soon.get(writer);
        assertThat(lock.participants()).extracting(Participant::holding).containsExactly(true, false);
        assertThat(reader).isNotDone();
        writing.close();
        Soon.get(reader).close();
    }

    @Test
    void writerWhoLeavesTheQueue_letsTheReadersBehindItIn() throws Exception {
        Lease reading = lock.readLock().acquire();
        CompletableFuture<Lease> writer = rival.writeLock().acquireAsync();
        awaitNodes(2);
        List<CompletableFuture<Lease>> readers =
                List.of(lock.readLock().acquireAsync(), rival.readLock().acquireAsync());
        awaitNodes(4);
        writer.cancel(true);
        for (CompletableFuture<Lease> reader : readers) {
            Soon.get(reader).close();
        }
        reading.close();
        awaitNodes(0);
    }

    @Test
    @Tag("H29")
    void readerWhoTimesOut_leavesTheOtherReadersOfItsSessionAwake() throws Exception {
        Lease writing = lock.writeLock().acquire();
        CompletableFuture<Lease> patient = rival.readLock().acquireAsync();
        awaitNodes(2);
        assertThat(rival.readLock().tryAcquire(Duration.ofMillis(50))).isEmpty();
        awaitNodes(2);
        writing.close();
        Soon.get(patient).close();
    }

    @Test
    void readersWhoComeAndGo_doNotStarveAWriter() throws Exception {
        Lease previous = lock.readLock().acquire();
        CompletableFuture<Lease> writer = rival.writeLock().acquireAsync();
        awaitNodes(2);
        // Each new reader asks before the previous one leaves, so there never is a moment without a reader.
        CompletableFuture<Lease> next = lock.readLock().acquireAsync();
        awaitNodes(3);
        previous.close();
        Lease writing = Soon.get(writer);
        assertThat(next).isNotDone();
        CompletableFuture<Lease> nextWriter = rival.writeLock().acquireAsync();
        awaitNodes(3);
        writing.close();
        Soon.get(next).close(); // nor do writers starve a reader
        Soon.get(nextWriter).close();
    }

    @Test
    void participants_tellReadersFromWritersAndHoldersFromWaiters() throws Exception {
        assertThat(lock.participants()).isEmpty();
        Lease one = lock.readLock().acquire();
        Lease two = rival.readLock().acquire();
        CompletableFuture<Lease> writer = rival.writeLock().acquireAsync();
        awaitNodes(3);
        CompletableFuture<Lease> reader = lock.readLock().acquireAsync();
        awaitNodes(4);
        List<Participant> all = lock.participants();
        assertThat(all).extracting(InterProcessReadWriteLock::isWriter).containsExactly(false, false, true, false);
        assertThat(all).extracting(Participant::holding).containsExactly(true, true, false, false);
        assertThat(all).extracting(Participant::owner).containsExactly("one", "another", "another", "one");
        assertThat(all).extracting(Participant::position).containsExactly(0, 1, 2, 3);
        assertThat(lock.writeLock().participants())
                .extracting(Participant::holding)
                .containsExactly(true, true, false, false);
        one.close();
        two.close();
        Soon.get(writer).close();
        Soon.get(reader).close();
    }

    @Test
    void isWriter_refusesParticipantsOfOtherRecipes() {
        Participant foreign = new Participant("/x", "x-lock-0000000001", "lock-", "", "one", 1, Duration.ZERO, 0, true);
        assertThatThrownBy(() -> InterProcessReadWriteLock.isWriter(foreign))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("x-lock-0000000001");
    }

    @Test
    void token_isGreaterThanThatOfEveryEarlierHolderThatItConflictsWith() throws Exception {
        Lease first = lock.writeLock().acquire();
        long firstWriter = first.fencingToken();
        first.close();
        Lease one = lock.readLock().acquire();
        Lease two = rival.readLock().acquire();
        assertThat(List.of(one.fencingToken(), two.fencingToken()))
                .allMatch(token -> token > firstWriter)
                .doesNotHaveDuplicates();
        long readers = Math.max(one.fencingToken(), two.fencingToken());
        one.close();
        two.close();
        server.reapContainers(); // the numbers begin anew, the tokens go on
        assertThat(server.nodeExists(path)).isFalse();
        Lease second = rival.writeLock().acquire();
        assertThat(second.fencingToken()).isGreaterThan(readers);
        Lease downgraded = rival.readLock().acquire();
        second.close();
        Lease third = lock.readLock().acquire();
        assertThat(third.fencingToken()).isGreaterThan(downgraded.fencingToken());
        third.close();
        downgraded.close();
    }
}
