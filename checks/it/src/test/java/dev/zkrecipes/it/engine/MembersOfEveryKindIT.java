// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.MultiLease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.mutex.InterProcessSemaphoreMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.internal.ServerStage;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A multi-lock of locks of every recipe, and of a driver that is none of them. */
class MembersOfEveryKindIT extends ServerStage {
    /** Two may hold. */
    private static final LockDriver PAIR = new StubDriver((front, self) ->
            front.size() < 2 ? Decision.granted() : Decision.waitFor(front.subList(front.size() - 2, front.size())));

    private ZooKeeperClient client;
    private ZooKeeperClient other;

    @BeforeEach
    void connect() throws InterruptedException {
        client = client();
        other = client();
    }

    private static List<InterProcessLock> members(ZooKeeperClient client) {
        return List.of(
                new InterProcessMutex(client, "/kinds/mutex"),
                new InterProcessSemaphoreMutex(client, "/kinds/semaphore-mutex"),
                new InterProcessReadWriteLock(client, "/kinds/read").readLock(),
                new InterProcessReadWriteLock(client, "/kinds/write").writeLock(),
                new InterProcessSemaphore(client, "/kinds/semaphore", 3).permits(2),
                new LockInternals(client, "/kinds/pair", PAIR, LockOptions.defaults()).threadOwned());
    }

    private int nodes() {
        return server.children("/kinds").stream()
                .mapToInt(lock -> server.children("/kinds/" + lock).size())
                .sum();
    }

    @Test
    void membersOfEveryKind_enterTogether_eachByItsOwnRule() throws Exception {
        InterProcessMultiLock all = new InterProcessMultiLock(members(client));
        all.acquire().close();
        all.acquire().close();
        RequestCounts start = server.requests();
        Lease lease = all.acquire();
        assertRequests(server.requests().minus(start), RequestType.MULTI);
        assertThat(nodes()).isEqualTo(6);
        assertThat(lease.fencingToken()).isPositive();
        assertThat(MultiLease.guardsOf(lease)).hasSize(6);

        List<Boolean> free = members(other).stream().map(this::isFree).toList();
        assertThat(free).containsExactly(false, false, true, false, false, true);
        assertThat(new InterProcessSemaphore(other, "/kinds/semaphore", 3).availablePermits())
                .isEqualTo(1);
        lease.close();
        assertThat(nodes()).isZero();
        assertThat(members(other).stream().map(this::isFree)).containsOnly(true);
    }

    private boolean isFree(InterProcessLock lock) {
        Optional<Lease> lease = lock.tryAcquire();
        lease.ifPresent(Lease::close);
        return lease.isPresent();
    }

    @Test
    void resizedSemaphore_letsAWaitingMultiLockIn() throws Exception {
        InterProcessSemaphore semaphore = new InterProcessSemaphore(other, "/kinds/semaphore", 3);
        Lease held = semaphore.acquire(2);
        var waiting = new InterProcessMultiLock(members(client)).acquireAsync();
        await().until(() -> nodes() == 7);
        assertThat(waiting).isNotDone();
        semaphore.resize(4);
        waiting.join().close();
        held.close();
        semaphore.resize(3);
    }

    @Test
    void lockOfAnotherLibrary_isAMember() throws Exception {
        InterProcessLock foreign = Foreign.of(new InterProcessMutex(other, "/kinds/foreign"));
        InterProcessMultiLock mixed =
                new InterProcessMultiLock(List.of(new InterProcessMutex(client, "/kinds/mutex"), foreign));
        Lease lease = mixed.acquire();
        assertThat(foreign.isHeldByCurrentThread()).isTrue();
        assertThat(MultiLease.tokensOf(lease)).containsOnlyKeys("/kinds/mutex", "/kinds/foreign");
        lease.close();
        assertThat(foreign.isHeldByCurrentThread()).isFalse();
    }
}
