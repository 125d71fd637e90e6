// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.rwlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is seen of the queue; its order is in {@link ReadWriteLockContractIT}. */
class ReadWriteQueueIT extends ServerStage {
    private ZooKeeperClient client;
    private ZooKeeperClient other;
    private InterProcessReadWriteLock lock;
    private InterProcessReadWriteLock rival;

    @BeforeEach
    void connect() throws InterruptedException {
        client = client(settings().ownerLabel("one"));
        other = client(settings().ownerLabel("another"));
        lock = new InterProcessReadWriteLock(client, path);
        rival = new InterProcessReadWriteLock(other, path);
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
    void isWriter_refusesParticipantsOfOtherRecipes() {
        Participant foreign = new Participant("/x", "x-lock-0000000001", "lock-", "", "one", 1, Duration.ZERO, 0, true);
        assertThatThrownBy(() -> InterProcessReadWriteLock.isWriter(foreign))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("x-lock-0000000001");
    }
}
