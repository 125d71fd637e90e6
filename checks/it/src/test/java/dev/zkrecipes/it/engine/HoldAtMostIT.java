// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Leases that end by themselves, and owners that locks name, at a server. */
class HoldAtMostIT extends ServerStage {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final LockOptions BRIEF = LockOptions.defaults().withHoldAtMost(Duration.ofMillis(500));
    private ZooKeeperClient client;
    private ZooKeeperClient other;

    @BeforeEach
    void connect() throws InterruptedException {
        client = client(LONG);
        other = client(LONG);
    }

    @Test
    void multiLockOfTwoClients_isLostWithItsFirstMember() throws Exception {
        Lease lease = new InterProcessMultiLock(List.of(
                        new InterProcessMutex(client, "/brief-a", BRIEF), new InterProcessMutex(other, "/brief-b")))
                .acquire();
        Soon.await().until(() -> lease.state() == LeaseState.LOST);
        lease.close();
        Soon.await()
                .until(() -> server.children("/brief-a").isEmpty()
                        && server.children("/brief-b").isEmpty());
    }

    @Test
    void multiLockOfTwoClients_isProlongedWithAllItsMembers() throws Exception {
        Lease lease = prolonged(new InterProcessMultiLock(
                List.of(new InterProcessMutex(client, "/longer-a", BRIEF), new InterProcessMutex(other, "/longer-b"))));
        Lease later = new InterProcessMutex(client, "/brief-c", BRIEF).acquire();
        Soon.await().until(() -> later.state() == LeaseState.LOST);
        lease.verify();
        assertThat(lease.prolong(LONG.dividedBy(2))).isTrue();
        lease.prolong(Duration.ofMillis(1)); // it may be over when this returns
        Soon.await().until(() -> lease.state() == LeaseState.LOST);
        assertThat(lease.prolong(LONG)).isFalse();
        lease.close();
        later.close();
    }

    /** Again if the time was over before, as on a machine with much else to do. */
    private static Lease prolonged(InterProcessLock lock) throws InterruptedException {
        Lease lease = lock.acquire();
        while (!lease.prolong(LONG)) {
            lease.close();
            lease = lock.acquire();
        }
        return lease;
    }

    private static void assertOwners(List<Participant> participants, String... owners) {
        assertThat(participants).extracting(Participant::owner).containsExactly(owners);
    }

    @Test
    void lockOwnerLabel_replacesTheClients() throws Exception {
        LockOptions named = LockOptions.defaults().withOwnerLabel("nightly report");
        InterProcessMutex mutex = new InterProcessMutex(client, "/named", named);
        try (Lease lease = mutex.acquire()) {
            assertOwners(mutex.participants(), "nightly report");
            Soon.await().until(lease::isValid);
        }
        InterProcessReadWriteLock modes = new InterProcessReadWriteLock(client, "/named-modes", named);
        try (Lease writing = modes.writeLock().acquire();
                Lease reading = modes.readLock().acquire()) {
            assertOwners(modes.readLock().participants(), "nightly report", "nightly report");
            assertThat(writing.fencingToken()).isEqualTo(reading.fencingToken());
        }
        InterProcessMultiLock both = new InterProcessMultiLock(
                List.of(mutex, new InterProcessMutex(client, "/named-too")),
                LockOptions.defaults().withOwnerLabel("both"));
        try (Lease lease = both.acquire()) {
            assertOwners(both.participants(), "nightly report", "both");
            lease.verify();
        }
        try (Lease plain = new InterProcessMutex(client, "/named").acquire()) {
            assertOwners(mutex.participants(), client.ownerLabel());
            plain.verify();
        }
    }
}
