// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.ClientScene;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.spi.LockGroups;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One more hold on what a thread holds: what it costs, and what it leaves. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReentryTest extends ClientScene {
    private static final int CYCLES = 20_000;
    private static final int RUNS = 20;
    /**
     * The lease and its place in the record, 64 bytes on a 64-bit JVM with compressed references, and the iterators and
     * lambdas of those who look for it, which only the second compiler takes away.
     */
    private static final int MOST_BYTES = 380;

    private final InterProcessLock lock = lock("/locks/orders");

    private interface Cycle {
        void run() throws InterruptedException;
    }

    /** The least of several runs: what each cycle takes is in all of them, what the JVM does once by the way is not. */
    private static long bytesOf(Cycle cycle) throws InterruptedException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long self = Thread.currentThread().getId();
        long least = Long.MAX_VALUE;
        for (int run = 0; run < RUNS; run++) {
            long before = threads.getThreadAllocatedBytes(self);
            for (int i = 0; i < CYCLES / RUNS; i++) {
                cycle.run();
            }
            least = Math.min(least, (threads.getThreadAllocatedBytes(self) - before) / (CYCLES / RUNS));
        }
        return least;
    }

    @Test
    void reenteringAndGivingBack_takesALease_andNothingElse() throws InterruptedException {
        Lease held = lock.acquire();
        operations.requests();
        long timers = scheduler.delays().size();
        assertThat(bytesOf(() -> lock.acquire().close())).as("close").isLessThanOrEqualTo(MOST_BYTES);
        assertThat(bytesOf(() -> {
                    lock.acquire();
                    lock.release();
                }))
                .as("release")
                .isLessThanOrEqualTo(MOST_BYTES);
        assertThat(operations.requests()).isEmpty();
        assertThat(scheduler.hasTasks()).isFalse();
        assertThat(scheduler.delays()).hasSize((int) timers);
        assertThat(held.state()).isEqualTo(LeaseState.HELD);
        assertThat(lock.holdCount()).isOne();
    }

    @Test
    void holdsClosedUnderAYoungerOne_areForgotten() throws InterruptedException {
        List<WeakReference<Lease>> closed = new ArrayList<>();
        Lease last = lock.acquire();
        for (int i = 0; i < CYCLES; i++) {
            Lease next = lock.acquire(); // hand over hand
            last.close();
            closed.add(new WeakReference<>(last));
            last = next;
        }
        Awaitility.await().atMost(Duration.ofSeconds(120)).until(() -> {
            System.gc();
            return closed.stream().allMatch(lease -> lease.refersTo(null));
        });
        assertThat(lock.holdCount()).isOne();
        assertThat(operations.nodes()).hasSize(1);
        last.close();
        scheduler.run();
        assertThat(operations.nodes()).isEmpty();
        assertThat(EngineClient.of(client).holds().ofThreads()).isEmpty();
    }

    @Test
    void holdsInTheMiddle_canBeClosed_andReleaseFindsTheYoungestOpenOne() throws InterruptedException {
        Lease first = lock.acquire();
        Lease second = lock.acquire();
        Lease third = lock.acquire();
        Lease fourth = lock.acquire();
        third.close();
        second.close();
        assertThat(lock.holdCount()).isEqualTo(2);
        lock.release();
        assertThat(fourth.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(first.state()).isEqualTo(LeaseState.HELD);
        assertThat(operations.nodes()).hasSize(1);
        lock.release();
        assertThat(first.state()).isEqualTo(LeaseState.RELEASED);
        assertThatThrownBy(lock::release).isInstanceOf(IllegalMonitorStateException.class);
        scheduler.run();
        assertThat(operations.nodes()).isEmpty();
    }

    @Test
    void holdsOfADeadThread_closedByManyThreadsAtOnce_giveTheLockBackOnce() throws Exception {
        for (int round = 0; round < 50; round++) {
            List<Lease> left = new ArrayList<>();
            Thread owner = new Thread(() -> {
                try {
                    for (int i = 0; i < 4; i++) {
                        left.add(lock.acquire());
                    }
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            owner.start();
            owner.join();
            CyclicBarrier together = new CyclicBarrier(left.size());
            List<Thread> closers = left.stream()
                    .map(lease -> new Thread(() -> {
                        try {
                            together.await();
                            ((Hold) lease).beginClosing(false);
                        } catch (Exception e) {
                            throw new AssertionError(e);
                        }
                    }))
                    .toList();
            closers.forEach(Thread::start);
            for (Thread closer : closers) {
                closer.join();
            }
            assertThat(left).extracting(Lease::state).containsOnly(LeaseState.RELEASED);
            scheduler.run();
            assertThat(operations.nodes()).isEmpty();
            assertThat(EngineClient.of(client).holds().ofThreads()).isEmpty();
        }
        assertThat(operations.deleted()).hasSize(50);
    }

    @Test
    void everyHoldOnALostNode_isToldOnce_whenAskedBeforeOrAfter() throws InterruptedException {
        Lease first = lock.acquire();
        Lease second = lock.acquire();
        Lease closed = lock.acquire();
        List<String> told = new ArrayList<>();
        first.onLost(() -> told.add("first"));
        closed.onLost(() -> told.add("closed"));
        CompletableFuture<LeaseState> endOfClosed = closed.ended().toCompletableFuture();
        closed.close();
        ((HeldNode) ((Hold) first).grant().first()).lose("the test says so");
        assertThat(told).isEmpty();
        scheduler.run();
        assertThat(told).containsExactly("first");
        assertThat(second.ended()).isCompletedWithValue(LeaseState.LOST);
        second.onLost(() -> told.add("second"));
        assertThat(told).containsExactly("first", "second");
        assertThat(endOfClosed).isCompletedWithValue(LeaseState.RELEASED);
        assertThatThrownBy(lock::acquire).isInstanceOf(LockLostException.class);
        assertThatThrownBy(lock::release).isInstanceOf(LockLostException.class);
        assertThat(second.state()).isEqualTo(LeaseState.LOST);
        first.close();
        scheduler.run();
        lock.acquire().close();
        assertThat(told).containsExactly("first", "second");
    }

    @Test
    void memberOfAGroup_isReenteredThroughItsOwnLock_andKeepsOnlyItsNode() throws InterruptedException {
        InterProcessLock member = lock("/locks/a");
        InterProcessLock both = LockGroups.together(List.of(member, lock("/locks/b")), LockOptions.defaults());
        Lease group = both.acquire();
        Lease alone = member.acquire();
        Lease again = both.acquire();
        assertThat(both.holdCount()).isEqualTo(2);
        assertThat(member.holdCount()).isOne();
        group.close();
        assertThat(operations.nodes()).hasSize(2);
        again.close();
        scheduler.run();
        assertThat(operations.nodes()).hasSize(1);
        assertThat(alone.state()).isEqualTo(LeaseState.HELD);
        alone.close();
        scheduler.run();
        assertThat(operations.nodes()).isEmpty();
    }
}
