// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.multilock;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.MultiLease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockGroups;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.internal.Lateness;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.TimedTry;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Members of two clients, of which one loses its server; and what a thread must not ask for. */
class MixedLockTroubleIT extends ServerStage {
    private static final Duration SESSION = Duration.ofSeconds(12);
    private FaultProxy proxy;
    private ZooKeeperClient near;
    private ZooKeeperClient far;

    @BeforeEach
    void connect() throws InterruptedException {
        proxy = proxy();
        near = client();
        far = client(proxy, SESSION);
        // The paths are there before anything goes wrong.
        together(mutex(near, "/x"), mutex(near, "/y"), mutex(far, "/z"))
                .acquire()
                .close();
    }

    private InterProcessLock mutex(ZooKeeperClient client, String name) {
        return new LockInternals(client, path + name, new MutexDriver(), LockOptions.defaults()).threadOwned();
    }

    private static InterProcessMultiLock together(InterProcessLock... members) {
        return new InterProcessMultiLock(List.of(members));
    }

    private List<String> nodes() {
        return List.of("/x", "/y", "/z").stream()
                .flatMap(name -> server.children(path + name).stream())
                .toList();
    }

    @Test
    @Tag("H37")
    @Tag("H99")
    void partlyHeldMemberGroup_isRefused_inAnyOrder() throws Exception {
        InterProcessLock x = mutex(near, "/x");
        InterProcessLock y = mutex(near, "/y");
        InterProcessLock z = mutex(far, "/z");
        Lease busy = mutex(near, "/z").acquireAsync().get();
        for (InterProcessLock holding : List.of(x, mutex(near, "/x"))) {
            Lease held = holding.acquire();
            for (InterProcessMultiLock all : List.of(together(x, y, z), together(z, x, y))) {
                assertThatThrownBy(() -> all.tryAcquire(Duration.ofSeconds(30)))
                        .isInstanceOf(LockRefusedException.class)
                        .hasMessageContaining(path + "/x");
            }
            held.close();
        }
        busy.close();
    }

    @Test
    @Tag("H99")
    void membersAllHeldThroughOtherObjects_areHeldOnceMore() throws Exception {
        Lease x = mutex(near, "/x").acquire();
        Lease z = mutex(far, "/z").acquire();
        for (InterProcessMultiLock all :
                List.of(together(mutex(near, "/x"), mutex(far, "/z")), together(mutex(near, "/x")))) {
            Lease again = all.tryAcquire().orElseThrow();
            assertThat(MultiLease.tokensOf(again).get(path + "/x")).isEqualTo(x.fencingToken());
            again.close();
        }
        assertThat(nodes()).hasSize(2);
        x.close();
        z.close();
        await().untilAsserted(() -> assertThat(nodes()).isEmpty());
    }

    @Test
    @Tag("H99")
    void memberHeldByAnotherRule_isRefused() throws Exception {
        InterProcessLock other =
                new LockInternals(near, path + "/x", new Mode("write-"), LockOptions.defaults()).threadOwned();
        Lease held = other.acquire();
        for (InterProcessMultiLock all :
                List.of(together(mutex(near, "/x"), mutex(far, "/z")), together(mutex(near, "/x")))) {
            assertThatThrownBy(() -> all.tryAcquire(Duration.ofSeconds(30))).isInstanceOf(LockRefusedException.class);
        }
        held.close();
    }

    private record Mode(String nodeName) implements LockDriver {
        @Override
        public Optional<LockNode> parse(String childName) {
            return LockNode.parse(childName, "write-").or(() -> LockNode.parse(childName, "read-"));
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            return predecessors.isEmpty() ? Decision.granted() : Decision.waitFor(predecessors.get(0));
        }
    }

    @Test
    @Tag("H31")
    void otherMode_isRefused_whileOneIsHeld() throws Exception {
        LockGroups.Modes modes =
                LockGroups.modes(near, path + "/m", new Mode("write-"), new Mode("read-"), LockOptions.defaults());
        Lease held = modes.exclusive().acquire();
        for (InterProcessMultiLock all :
                List.of(together(modes.shared()), together(modes.shared(), mutex(far, "/z")))) {
            assertThatThrownBy(() -> all.tryAcquire(Duration.ofSeconds(30))).isInstanceOf(LockRefusedException.class);
        }
        held.close();
    }

    @Test
    @Tag("H33")
    void deadlineCoversTriesThatAreNotAnswered() throws Exception {
        InterProcessMultiLock all = together(mutex(near, "/x"), mutex(far, "/z"));
        proxy.pause();
        // A try of its own would take the request time-out, T/3.
        assertThatThrownBy(() -> inTime(all, Duration.ofSeconds(1))).isInstanceOf(LockConnectionException.class);
        proxy.resume();
        await().untilAsserted(() -> assertThat(nodes()).isEmpty());
    }

    @Test
    @Tag("H33")
    void deadlineCoversGivingBack() throws Exception {
        Lease busy = mutex(near, "/x").acquireAsync().get();
        InterProcessMultiLock all = together(mutex(far, "/z"), mutex(near, "/x"));
        InterProcessLock cut = mock(InterProcessLock.class);
        when(cut.path()).thenReturn("/cut");
        when(cut.tryAcquire()).thenAnswer(call -> {
            proxy.pause();
            return Optional.empty();
        });
        InterProcessLock doomed = together(mutex(far, "/z"), cut);
        Optional<Lease> lease = TimedTry.of(limit -> {
            proxy.resume();
            return inTime(doomed, limit);
        });
        assertThat(lease).isEmpty();
        proxy.resume();
        await().untilAsserted(() -> assertThat(server.children(path + "/z")).isEmpty());
        assertThat(TimedTry.on(all)).isEmpty();
        busy.close();
    }

    /** Asks for a lock, which is over at most a second after the limit. */
    private static Optional<Lease> inTime(InterProcessLock lock, Duration limit) throws InterruptedException {
        try (Lateness lateness = Lateness.measure()) {
            long begin = System.nanoTime();
            try {
                return lock.tryAcquire(limit);
            } finally {
                assertThat(Duration.ofNanos(System.nanoTime() - begin))
                        .isLessThan(limit.plusSeconds(1).plus(lateness.soFar()));
            }
        }
    }

    @Test
    @Tag("H25")
    void disconnectedMember_isWaitedFor() throws Exception {
        InterProcessMultiLock all = together(mutex(near, "/x"), mutex(far, "/z"));
        proxy.refuse();
        await().until(() -> far.connectionState() != ConnectionState.CONNECTED);
        long deletes = server.requests().of(RequestType.DELETE);
        try (Workers workers = new Workers()) {
            workers.start("asks", () -> all.acquire().close());
            await().until(() -> server.requests().of(RequestType.DELETE) > deletes); // it gave back what it had
            proxy.accept();
            workers.join(Duration.ofSeconds(120));
        }
        await().untilAsserted(() -> assertThat(nodes()).isEmpty());
    }

    /** The client that is closed has measured the time, and nobody else would release the other member in time. */
    @Test
    @Tag("H325")
    void limitedHold_isGivenBack_whenTheClientThatMeasuresItsTimeIsClosed() throws Exception {
        LockOptions limited = LockOptions.defaults().withHoldAtMost(Duration.ofHours(1));
        InterProcessLock foreign = LockGroups.foreign(new MixedLock(List.of(mutex(far, "/z"))));
        Lease lease = new InterProcessMultiLock(List.of(mutex(near, "/x"), foreign), limited).acquire();
        near.close();
        await().untilAsserted(() -> assertThat(nodes()).isEmpty());
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        lease.close();
    }

    @Test
    @Tag("H42")
    void closedHolds_leaveNoListenerWithTheMembers() throws Exception {
        Lease foreign = mock(Lease.class);
        when(foreign.state()).thenReturn(LeaseState.HELD);
        when(foreign.closeAsync()).thenReturn(CompletableFuture.completedFuture(null));
        InterProcessLock lender = mock(InterProcessLock.class);
        when(lender.path()).thenReturn("/foreign");
        when(lender.tryAcquire()).thenReturn(Optional.of(foreign));
        InterProcessMultiLock all = together(mutex(near, "/x"), lender);
        Lease outer = all.acquire();
        for (int hold = 0; hold < 100; hold++) {
            all.acquire().close();
        }
        verify(foreign, times(1)).onLost(any());
        outer.close();
        verify(foreign).close();
    }

    @Test
    @Tag("H41")
    void leaseWithoutListeners_isReleasedWithTheOthers() throws Exception {
        Lease deaf = mock(Lease.class);
        doThrow(new UnsupportedOperationException("no listeners")).when(deaf).onLost(any());
        InterProcessLock lender = mock(InterProcessLock.class);
        when(lender.path()).thenReturn("/foreign");
        when(lender.tryAcquire()).thenReturn(Optional.of(deaf));
        InterProcessMultiLock all = together(mutex(near, "/x"), lender);
        assertThatThrownBy(all::acquire).isInstanceOf(UnsupportedOperationException.class);
        verify(deaf).close();
        assertThat(nodes()).isEmpty();
        assertThatThrownBy(all::tryAcquire).isInstanceOf(UnsupportedOperationException.class);
        assertThat(nodes()).isEmpty();
    }

    @Test
    void tokensOfMembersWithOnePath_areNotMixedUp() {
        Lease one = mock(Lease.class);
        Lease other = mock(Lease.class);
        when(one.path()).thenReturn("/x");
        when(other.path()).thenReturn("/x");
        MixedHold hold = new MixedHold("/x,/x", List.of(one, other));
        assertThatThrownBy(hold::fencingTokens)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("have the path /x");
    }

    @Test
    void closeAsyncAfterClose_isDoneWhenTheNodesAreGone() throws Exception {
        Lease lease = together(mutex(near, "/x"), mutex(far, "/z")).acquire();
        proxy.pause();
        lease.close();
        CompletableFuture<Void> gone = lease.closeAsync();
        assertThat(gone).isNotDone();
        assertThat(server.children(path + "/z")).hasSize(1);
        proxy.resume();
        await().until(gone::isDone);
        assertThat(nodes()).isEmpty();
    }
}
