// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.THROWABLE;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.spi.ForeignLock;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockParts;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.Ports;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.mockito.InOrder;

/** Leases of several clients: their waits do not add up. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ManyLeasesTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    private final ManualScheduler scheduler = new ManualScheduler();
    private final List<ScriptedOperations> servers = new ArrayList<>();
    private final List<InterProcessLock> locks = new ArrayList<>();
    private final List<Lease> leases = new ArrayList<>();

    /** One lease of each client, held by the thread of the test. */
    private void acquireAll() throws InterruptedException {
        for (int i = 0; i < 4; i++) {
            ScriptedOperations server = new ScriptedOperations(scheduler);
            servers.add(server);
            ZooKeeperClient client = Ports.clientBuilder(states -> server, scheduler)
                    .callbackExecutor(Runnable::run)
                    .requestTimeout(TIMEOUT)
                    .build();
            locks.add(
                    new LockInternals(client, "/locks/" + i, new MutexDriver(), LockOptions.defaults()).threadOwned());
            leases.add(locks.get(i).acquire());
        }
    }

    private interface Call {
        void run() throws InterruptedException;
    }

    private Duration timeOf(Call call) throws InterruptedException {
        long begin = scheduler.nanoTime();
        call.run();
        return Duration.ofNanos(scheduler.nanoTime() - begin);
    }

    @Test
    @Tag("H33")
    void silentServers_delayTheCloseOfAll_noLongerThanThatOfOne() throws InterruptedException {
        acquireAll();
        servers.forEach(ScriptedOperations::fallSilent);
        assertThat(timeOf(() -> LockParts.closeAll(leases))).isEqualTo(TIMEOUT);
        assertThat(leases).extracting(Lease::state).containsOnly(LeaseState.RELEASED);
    }

    @Test
    void closeOfAll_waitsForTheSlowestServer() throws InterruptedException {
        acquireAll();
        for (int i = 0; i < servers.size(); i++) {
            servers.get(i).delayAnswersOf(Request.DELETE, Duration.ofMillis(1_000 + 100 * i));
        }
        assertThat(timeOf(() -> LockParts.closeAll(leases))).isEqualTo(Duration.ofMillis(1_300));
        LockParts.closeAll(leases);
        assertThat(servers).allSatisfy(server -> assertThat(server.deleted()).hasSize(1));
    }

    @Test
    @Tag("H33")
    void verificationsOfAll_takeAsLongAsTheSlowest() throws InterruptedException {
        acquireAll();
        Duration delay = Duration.ofMillis(1_500);
        servers.forEach(server -> server.delayAnswersOf(Request.MULTI, delay));
        assertThat(timeOf(() -> LockParts.verifyAll(leases))).isEqualTo(delay);
    }

    @Test
    void serverThatDoesNotAnswer_failsTheVerification_inTime() throws InterruptedException {
        acquireAll();
        servers.get(3).fallSilent();
        servers.get(0).delayAnswersOf(Request.MULTI, Duration.ofMillis(1_500));
        assertThat(timeOf(() -> assertThatThrownBy(() -> LockParts.verifyAll(leases))
                        .isInstanceOf(LockConnectionException.class)
                        .hasMessageContaining("/locks/3")))
                .isEqualTo(TIMEOUT);
    }

    @Test
    void refusedReleases_areToldTogether_andTheOthersTakePlace() throws InterruptedException {
        acquireAll();
        servers.get(1).refuse(Request.DELETE, Code.NOAUTH);
        servers.get(3).refuse(Request.DELETE, Code.NOAUTH);
        assertThatThrownBy(() -> LockParts.closeAll(leases))
                .isInstanceOf(LockAccessException.class)
                .hasMessageContaining("/locks/3")
                .satisfies(first -> assertThat(first.getSuppressed())
                        .singleElement()
                        .asInstanceOf(THROWABLE)
                        .hasMessageContaining("/locks/1"));
        assertThat(leases).extracting(Lease::state).containsOnly(LeaseState.RELEASED);
    }

    /** A lock that works on a client and waits for its server, such as a hand-over inside the process. */
    @Test
    void locksThatAreBuiltOnOthers_areWaitedForTogether() throws InterruptedException {
        acquireAll();
        List<Lease> built = new ArrayList<>();
        for (InterProcessLock lock : locks) {
            built.add(LockParts.foreign(new Builder(lock), LockOptions.defaults(), lock)
                    .acquire());
        }
        leases.forEach(Lease::closeAsync); // the lock that is built on it keeps the last hold
        servers.forEach(ScriptedOperations::fallSilent);
        assertThat(timeOf(() -> LockParts.closeAll(built))).isEqualTo(TIMEOUT);
    }

    private record Builder(InterProcessLock lock) implements ForeignLock {
        @Override
        public String path() {
            return "on " + lock.path();
        }

        @Override
        public Hold acquire() throws InterruptedException {
            Lease lease = lock.acquire();
            return new Hold() {
                @Override
                public LeaseState state() {
                    return lease.state();
                }

                @Override
                public void onLost(Runnable listener) {}

                @Override
                public void release() {
                    lease.close();
                }

                @Override
                public void releaseInBackground() {
                    var unused = lease.closeAsync();
                }

                @Override
                public CompletableFuture<Void> released() {
                    return lease.closeAsync();
                }
            };
        }

        @Override
        public Optional<Hold> tryAcquire(Duration atMost) throws InterruptedException {
            return Optional.of(acquire());
        }
    }

    @Test
    void leasesOfOtherLibraries_areClosedOnTheCallingThread_theLastFirst() throws InterruptedException {
        acquireAll();
        IllegalStateException failure = new IllegalStateException("stuck");
        Lease first = mock(Lease.class);
        Lease last = mock(Lease.class);
        doThrow(failure).when(last).close();
        assertThatThrownBy(() -> LockParts.closeAll(List.of(first, leases.get(0), last)))
                .isSameAs(failure);
        InOrder order = inOrder(first, last);
        order.verify(last).close();
        order.verify(first).close();
        assertThat(leases.get(0).state()).isEqualTo(LeaseState.RELEASED);
    }
}
