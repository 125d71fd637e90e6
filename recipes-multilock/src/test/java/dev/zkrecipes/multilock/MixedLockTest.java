// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.multilock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.ForeignLock;
import dev.zkrecipes.core.spi.LockGroups;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockParts;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.Ports;
import dev.zkrecipes.explore.sim.Choices;
import dev.zkrecipes.explore.sim.SimulatedProcess;
import dev.zkrecipes.explore.sim.SimulatedScheduler;
import dev.zkrecipes.explore.sim.SimulatedZooKeeper;
import dev.zkrecipes.explore.sim.Simulation;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Members that cannot enter together, on a simulated clock or of no client at all. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MixedLockTest {
    private static final Duration SESSION = Duration.ofSeconds(30);
    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    private final Simulation simulation = new Simulation(Choices.replay(new int[0]));
    private final SimulatedZooKeeper ensemble = new SimulatedZooKeeper(simulation, SESSION, Duration.ofSeconds(2));
    private final SimulatedScheduler scheduler = new SimulatedScheduler(simulation, 1, failure -> {
        throw new AssertionError("the engine failed", failure);
    });
    private final List<SimulatedProcess> processes = IntStream.range(0, 4)
            .mapToObj(i -> ensemble.process(scheduler, "client " + i))
            .toList();
    private final List<InterProcessLock> mutexes = IntStream.range(0, 4)
            .mapToObj(i -> mutexOfClient(i, LockOptions.defaults()))
            .toList();

    private InterProcessLock mutexOfClient(int number, LockOptions options) {
        ZooKeeperClient client = Ports.clientBuilder(processes.get(number), scheduler)
                .callbackExecutor(Runnable::run)
                .requestTimeout(TIMEOUT)
                .build();
        return new LockInternals(client, "/locks/" + number, new MutexDriver(), options).threadOwned();
    }

    private interface Call {
        void run() throws Exception;
    }

    /** How long the call takes on the simulated clock. */
    private Duration timeOf(Call call) throws Exception {
        long begin = simulation.now();
        call.run();
        return Duration.ofNanos(simulation.now() - begin);
    }

    @Test
    @Tag("H33")
    void silentServers_delayTheCloseOfAllMembers_byOneRequestTimeout() throws Exception {
        Lease lease = new InterProcessMultiLock(mutexes).acquire();
        processes.forEach(process -> process.stall(Duration.ofSeconds(15)));
        assertThat(timeOf(lease::close)).isEqualTo(TIMEOUT);
    }

    @Test
    @Tag("H33")
    void slowServers_doNotAddUpInAVerification() throws Exception {
        Lease lease = new InterProcessMultiLock(mutexes).acquire();
        processes.get(0).stall(Duration.ofMillis(1_500));
        processes.get(1).stall(Duration.ofMillis(3_000)); // after the time-out of a check that is sent with the first
        assertThat(timeOf(() -> assertThatThrownBy(lease::verify).isInstanceOf(LockConnectionException.class)))
                .isEqualTo(TIMEOUT);
    }

    /** A lock that waits in a queue of its own, such as the hand-off mutex, does not enter together with the others. */
    @Test
    @Tag("H32")
    void pathThatIsNamedTwice_isRefused_evenIfItsLocksDoNotEnterTogether() {
        InterProcessLock mutex = mutexes.get(0);
        ForeignLock queue = mock(ForeignLock.class);
        when(queue.path()).thenReturn(mutex.path());
        InterProcessLock queued = LockParts.foreign(queue, LockOptions.defaults(), mutex);
        InterProcessLock again = LockParts.foreign(queue, LockOptions.defaults(), mutex);
        for (List<InterProcessLock> members : List.of(List.of(mutex, queued), List.of(queued, again))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new InterProcessMultiLock(members))
                    .withMessageContaining("the path " + mutex.path() + " is named twice");
        }
        assertThat(new InterProcessMultiLock(List.of(mutexes.get(1), queued)).path())
                .contains(mutex.path());
    }

    private static InterProcessLock foreign(String path) {
        InterProcessLock lock = mock(InterProcessLock.class);
        when(lock.path()).thenReturn(path);
        return lock;
    }

    /** A member that is free, and whose lease is released as the future says. */
    private static Lease free(InterProcessLock member, CompletableFuture<Void> released) throws InterruptedException {
        Lease lease = mock(Lease.class);
        when(lease.closeAsync()).thenReturn(released);
        when(member.tryAcquire(any())).thenReturn(Optional.of(lease));
        when(member.tryAcquire()).thenReturn(Optional.of(lease));
        return lease;
    }

    private final InterProcessLock first = foreign("/first");
    private final InterProcessLock second = foreign("/second");
    private final InterProcessLock refusing = foreign("/refusing");
    private final LockRefusedException refusal = new LockRefusedException("the test says so");
    private final InterProcessMultiLock all = new InterProcessMultiLock(List.of(first, second, refusing));

    @Test
    @Tag("H33")
    void refusedRequest_doesNotWaitForAReleaseBeyondItsLimit() throws Exception {
        AtomicBoolean isAsked = new AtomicBoolean();
        free(second, CompletableFuture.completedFuture(null));
        when(refusing.tryAcquire()).thenAnswer(call -> {
            isAsked.set(true);
            throw refusal;
        });
        Duration limit = Duration.ofMillis(200);
        Lease lease;
        Throwable thrown;
        do { // with a longer limit if this one is over before the last member is asked
            limit = limit.multipliedBy(5);
            Duration most = limit;
            lease = free(first, new CompletableFuture<>());
            thrown = catchThrowable(() -> all.tryAcquire(most));
        } while (!isAsked.get());
        assertThat(thrown).isSameAs(refusal);
        verify(lease).closeAsync();
        verify(lease, never()).close(); // may wait for longer
    }

    @Test
    @Tag("H33")
    void failuresOfReleases_areAddedToTheRefusal() throws Exception {
        LockException one = new LockException("one");
        LockException other = new LockException("other");
        free(first, CompletableFuture.failedFuture(one));
        free(second, CompletableFuture.failedFuture(other));
        when(refusing.tryAcquire()).thenThrow(refusal);
        assertThatThrownBy(() -> all.tryAcquire(Duration.ofMinutes(5))).isSameAs(refusal);
        assertThat(refusal.getSuppressed()).containsExactly(other);
        assertThat(other.getSuppressed()).containsExactly(one);
    }

    @Test
    void interruptionOfARefusedRequest_endsTheWaitForReleases_andStays() throws Exception {
        free(first, new CompletableFuture<>());
        free(second, CompletableFuture.completedFuture(null));
        when(refusing.tryAcquire()).thenAnswer(call -> {
            Thread.currentThread().interrupt();
            throw refusal;
        });
        assertThatThrownBy(() -> all.tryAcquire(Duration.ofMinutes(5))).isSameAs(refusal);
        assertThat(Thread.interrupted()).isTrue();
    }

    // ---- The time of a hold.

    private static final Duration MOST = Duration.ofMillis(400);
    private static final LockOptions LIMITED = LockOptions.defaults().withHoldAtMost(MOST);

    private void pass(Duration time) {
        simulation.passUntil(simulation.now() + time.toNanos());
    }

    /** The members that other threads could have now. */
    private Stream<String> nodes() {
        return IntStream.range(0, 4)
                .mapToObj(i -> "/locks/" + i)
                .flatMap(path -> ensemble.committed().children(path).stream());
    }

    @Test
    void memberOfAnotherLibrary_isReleased_whenTheTimeIsOver() throws Exception {
        Table table = new Table();
        Lease lease = new InterProcessMultiLock(List.of(LockGroups.foreign(table), mutexes.get(0)), LIMITED).acquire();
        int before = table.releases; // while the client had no connection yet
        pass(MOST.minusMillis(50));
        assertThat(table.isHeld).isTrue();
        assertThat(lease.isValid()).isTrue();
        pass(Duration.ofSeconds(1));
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        assertThat(table.isHeld).isFalse();
        lease.close();
        assertThat(table.releases).isEqualTo(before + 1);
    }

    @Test
    void timeThatAMemberNames_countsForMembersOfOtherClients() throws Exception {
        InterProcessLock limited = mutexOfClient(0, LIMITED);
        Lease lease = new InterProcessMultiLock(List.of(limited, mutexes.get(1), mutexes.get(2))).acquire();
        pass(Duration.ofSeconds(1));
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        assertThat(nodes()).isEmpty();
        lease.close();
    }

    @Test
    void prolongedLease_isHeldForItsNewTime() throws Exception {
        Table table = new Table();
        Lease lease = new InterProcessMultiLock(List.of(LockGroups.foreign(table), mutexes.get(0)), LIMITED).acquire();
        int before = table.releases; // while the client had no connection yet
        pass(MOST.dividedBy(2));
        assertThat(lease.prolong(MOST)).isTrue();
        pass(MOST.minusMillis(50));
        assertThat(lease.isValid()).isTrue();
        lease.close();
        pass(Duration.ofSeconds(1));
        assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(table.releases).isEqualTo(before + 1);
    }

    @Test
    @Tag("H329")
    void timeThatIsOverDuringAVerification_isReportedAsALoss() throws Exception {
        Table table = new Table();
        Lease lease = new InterProcessMultiLock(List.of(LockGroups.foreign(table), mutexes.get(0)), LIMITED).acquire();
        table.whileVerified = () -> pass(Duration.ofSeconds(1));
        assertThatThrownBy(lease::verify).isInstanceOf(LockLostException.class).hasMessageContaining("withHoldAtMost");
        assertThat(table.isHeld).isFalse();
        lease.close();
    }

    @Test
    void timeOfAHold_isRefused_whereNobodyCouldMeasureIt() {
        List<InterProcessLock> members = List.of(LockGroups.foreign(new Table()), first);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new InterProcessMultiLock(members, LIMITED))
                .withMessageContaining("table,/first")
                .withMessageContaining("withHoldAtMost");
    }

    /** A lock of another library that is always free. */
    private static final class Table implements ForeignLock, ForeignLock.Hold {
        boolean isHeld;
        int releases;
        Runnable whileVerified = () -> {};

        @Override
        public void verify() {
            whileVerified.run();
        }

        @Override
        public String path() {
            return "table";
        }

        @Override
        public Hold acquire() {
            isHeld = true;
            return this;
        }

        @Override
        public Optional<Hold> tryAcquire(Duration atMost) {
            return Optional.of(acquire());
        }

        @Override
        public LeaseState state() {
            return LeaseState.HELD;
        }

        @Override
        public void onLost(Runnable listener) {}

        @Override
        public void release() {
            releases++;
            isHeld = false;
        }
    }
}
