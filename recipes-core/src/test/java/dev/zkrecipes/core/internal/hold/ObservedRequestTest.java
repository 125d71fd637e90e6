// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockObserver;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.Ports;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What observing costs, and what durations it tells. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ObservedRequestTest {
    private static final int CALLS = 100_000;

    private final ManualScheduler scheduler = new ManualScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler);

    @Test
    void withoutAnObserver_nothingIsAllocatedAndNoClockIsRead() {
        EngineClient client = EngineClient.of(
                Ports.clientBuilder(states -> operations, scheduler).build());
        scheduler.uponTime = () -> {
            throw new AssertionError("a clock was read");
        };
        LockGroup group = LockGroup.of(
                new LockSpec(ZooDefs.Ids.OPEN_ACL_UNSAFE, "/locks/orders", new MutexDriver(), LockOptions.defaults()));
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        for (int i = 0; i < CALLS; i++) {
            assertNull(client.observe(group));
        }
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < CALLS; i++) {
            assertNull(client.observe(group));
        }
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        assertThat(allocated / CALLS).as("bytes a call").isZero(); // the bean and JIT allocate a little
    }

    private static void assertNull(Object begun) {
        if (begun != null) {
            throw new AssertionError(begun);
        }
    }

    /** A lease that is closed later is closed by the engine, which must not wait for what an observer does. */
    @Test
    void releaseByTheEngine_isToldOnACallbackThread() throws InterruptedException {
        List<Duration> told = new ArrayList<>();
        List<Runnable> callbacks = new ArrayList<>();
        ZooKeeperClient client = Ports.clientBuilder(states -> operations, scheduler)
                .callbackExecutor(callbacks::add)
                .observer(request -> new LockObserver.Progress() {
                    @Override
                    public void onReleased(Duration held) {
                        told.add(held);
                    }
                })
                .build();
        Lease lease = new LockInternals(client, "/locks/orders", new MutexDriver(), LockOptions.defaults())
                .threadOwned()
                .acquire();
        var unused = lease.closeAfter(Duration.ofSeconds(3));
        scheduler.advance(Duration.ofSeconds(5));
        assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(told).as("on the engine thread").isEmpty();
        List.copyOf(callbacks).forEach(Runnable::run);
        assertThat(told).containsExactly(Duration.ofSeconds(3));
    }

    @Test
    void durations_areThoseOfTheEnginesClock() throws InterruptedException {
        List<String> told = new ArrayList<>();
        ZooKeeperClient client = Ports.clientBuilder(states -> operations, scheduler)
                .callbackExecutor(Runnable::run)
                .observer(request -> new LockObserver.Progress() {
                    @Override
                    public void onGranted(Duration waited) {
                        told.add("waited " + waited);
                    }

                    @Override
                    public void onReleased(Duration held) {
                        told.add("held " + held);
                    }

                    @Override
                    public void onAbandoned(Duration waited, LockObserver.Ending how) {
                        told.add(how + " after " + waited);
                    }
                })
                .build();
        var lock = new LockInternals(client, "/locks/orders", new MutexDriver(), LockOptions.defaults()).threadOwned();
        lock.acquire().close();
        told.clear();

        Lease lease = lock.acquire();
        scheduler.advance(Duration.ofMillis(250));
        lease.close();
        assertThat(told).containsExactly("waited PT0S", "held PT0.25S");

        operations.add("00000000000000000000000000000000-lock-0000000000"); // somebody else
        told.clear();
        assertThat(lock.tryAcquire(Duration.ofMillis(500))).isEmpty();
        assertThat(told).containsExactly("TIMED_OUT after PT0.5S");
    }

    @Test
    void name_isKeptByAllOtherOptions() {
        LockOptions named = LockOptions.defaults().withName("orders");
        assertThat(List.of(
                        named.withAcl(ZooDefs.Ids.OPEN_ACL_UNSAFE),
                        named.withQueueLossPolicy(named.queueLossPolicy()),
                        named.withReleaseInBackground()))
                .allSatisfy(options -> assertThat(options.name()).hasValue("orders"));
        assertThat(named).hasToString("LockOptions[orders, REQUEUE]");
        assertThat(LockOptions.defaults().name()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "a/b", "a\n", "ä"})
    void nameUnfitForATag_isRejected(String name) {
        assertThatThrownBy(() -> LockOptions.defaults().withName(name))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("of a lock must be 1 to 80 letters, digits, '.', '_', ':' or '-'");
        assertThatThrownBy(() -> LockOptions.defaults().withName("x".repeat(81)))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
