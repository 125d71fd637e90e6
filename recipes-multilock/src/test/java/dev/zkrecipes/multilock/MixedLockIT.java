// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.multilock;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.MultiLease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Members that cannot enter together: of different clients, or not of this library. */
class MixedLockIT extends ServerStage {
    private final List<String> paths = new ArrayList<>();
    private final List<InterProcessLock> members = new ArrayList<>();
    private final List<InterProcessLock> rivals = new ArrayList<>();
    private InterProcessMultiLock all;

    @BeforeEach
    void connect() throws Exception {
        ZooKeeperClient rival = client();
        for (String name : List.of("a", "b", "c")) {
            String member = path + "/" + name;
            paths.add(member);
            members.add(mutex(client(), member));
            rivals.add(mutex(rival, member));
        }
        all = new InterProcessMultiLock(members);
        all.acquire().close();
    }

    private static InterProcessLock mutex(ZooKeeperClient client, String path) {
        return new LockInternals(client, path, new MutexDriver(), LockOptions.defaults()).threadOwned();
    }

    private int nodes() {
        return paths.stream().mapToInt(path -> server.children(path).size()).sum();
    }

    @Test
    void lease_holdsEveryMemberOnce_andIsReentrantAsAWhole() throws Exception {
        Lease lease = all.acquire();
        Lease again = all.acquire();
        assertThat(nodes()).isEqualTo(3);
        assertThat(all.holdCount()).isEqualTo(2);
        assertThat(all.isHeldByCurrentThread()).isTrue();
        assertThat(MultiLease.tokensOf(lease)).containsOnlyKeys(paths);
        assertThat(MultiLease.guardsOf(lease)).hasSize(3);
        assertThatThrownBy(lease::fencingToken).isInstanceOf(IllegalStateException.class);
        lease.verify();
        lease.close();
        lease.close();
        assertThat(nodes()).isEqualTo(3);
        all.release();
        assertThat(again.state()).isEqualTo(LeaseState.RELEASED);
        assertThatThrownBy(all::release).isInstanceOf(IllegalMonitorStateException.class);
        assertThat(nodes()).isZero();
        assertThatThrownBy(all::acquireAsync).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    @Tag("H33")
    void failureOfAMember_releasesTheOthers_andKeepsTheirFailures() throws Exception {
        IllegalStateException first = new IllegalStateException("cannot try");
        LockException second = new LockException("cannot give back");
        Lease stubborn = mock(Lease.class);
        doThrow(second).when(stubborn).close();
        InterProcessLock foreign = mock(InterProcessLock.class);
        when(foreign.path()).thenReturn("/foreign");
        when(foreign.tryAcquire()).thenReturn(Optional.of(stubborn));
        InterProcessLock failing = mock(InterProcessLock.class);
        when(failing.path()).thenReturn("/failing");
        when(failing.tryAcquire()).thenThrow(first);
        InterProcessLock never = mock(InterProcessLock.class);
        when(never.path()).thenReturn("/never");

        InterProcessMultiLock mixed = new InterProcessMultiLock(List.of(members.get(0), foreign, failing, never));
        assertThatThrownBy(mixed::acquire).isSameAs(first).hasSuppressedException(second);
        verify(never, never()).tryAcquire();
        assertThat(nodes()).isZero();
        assertThat(mixed.isHeldByCurrentThread()).isFalse();
    }

    @Test
    void busyMember_isWaitedForWhileNothingIsHeld() throws Exception {
        Lease held = rivals.get(2).acquire();
        try (Workers workers = new Workers()) {
            Thread waiter = workers.start("waiter", () -> all.acquire().close());
            await().until(() -> server.children(paths.get(2)).size() == 2);
            assertThat(rivals.get(0).tryAcquire()).isPresent().get().satisfies(Lease::close);
            assertThat(rivals.get(1).tryAcquire()).isPresent().get().satisfies(Lease::close);
            held.close();
            workers.join(Duration.ofSeconds(120));
            assertThat(waiter.isAlive()).isFalse();
        }
        await().until(() -> nodes() == 0);
    }

    @Test
    @Tag("H32")
    void oppositeOrders_neverDeadlock() throws Exception {
        List<InterProcessLock> backwards = new ArrayList<>(members);
        Collections.reverse(backwards);
        InterProcessMultiLock opposite = new InterProcessMultiLock(backwards);
        try (Workers workers = new Workers()) {
            for (InterProcessMultiLock lock : List.of(all, opposite)) {
                workers.start("contender", () -> {
                    for (int round = 0; round < 30; round++) {
                        lock.acquire().close();
                    }
                });
            }
            workers.join(Duration.ofSeconds(120));
        }
        await().until(() -> nodes() == 0);
    }

    @Test
    void lostMember_losesTheLease() throws Exception {
        Lease lease = all.acquire();
        server.deleteNode(paths.get(1) + "/" + server.children(paths.get(1)).get(0));
        assertThatThrownBy(lease::verify).isInstanceOf(LockLostException.class);
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        assertThat(lease.ended().toCompletableFuture().get(120, TimeUnit.SECONDS))
                .isEqualTo(LeaseState.LOST);
        assertThatThrownBy(all::acquire).isInstanceOf(LockLostException.class);
        assertThatThrownBy(() -> MultiLease.guardsOf(lease)).isInstanceOf(LockLostException.class);
        assertThatThrownBy(all::release).isInstanceOf(LockLostException.class);
        assertThat(nodes()).isZero();
        all.acquire().close();
    }

    @Test
    void interruptedRequest_leavesNothing() throws Exception {
        Lease held = rivals.get(2).acquire();
        try (Workers workers = new Workers()) {
            Thread waiter = workers.start(
                    "waiter", () -> assertThatThrownBy(all::acquire).isInstanceOf(InterruptedException.class));
            await().until(() -> server.children(paths.get(2)).size() == 2);
            waiter.interrupt();
            workers.join(Duration.ofSeconds(120));
        }
        await().until(() -> nodes() == 1);
        held.close();
    }

    @Test
    void hold_belongsToItsThread() throws Exception {
        Lease lease = all.acquire();
        try (Workers workers = new Workers()) {
            workers.start("another thread", () -> {
                assertThatThrownBy(lease::close).isInstanceOf(IllegalMonitorStateException.class);
                assertThat(all.isHeldByCurrentThread()).isFalse();
                assertThat(all.isAcquiredInThisProcess()).isTrue();
                assertThat(all.asLock().tryLock()).isFalse();
            });
            workers.join(Duration.ofSeconds(120));
        }
        lease.closeAsync().get(120, TimeUnit.SECONDS);
        all.asLock().lock();
        all.asLock().unlock();
        assertThat(nodes()).isZero();
    }

    @Test
    void release_ofAMemberThatWasNotAcquired_isRefused() throws Exception {
        Lease lease = all.acquire();
        assertThatThrownBy(members.get(0)::release).isInstanceOf(IllegalMonitorStateException.class);
        Soon.await().until(lease::isValid);
        assertThat(nodes()).isEqualTo(3);
        members.get(0).acquire();
        members.get(0).release();
        assertThat(nodes()).isEqualTo(3);
        lease.close();
        assertThat(nodes()).isZero();
    }
}
