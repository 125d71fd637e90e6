// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.rwlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import dev.zkrecipes.test.internal.TimedTry;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What one thread holds of both sides, and what other threads see of it. */
class ReadWriteHoldsIT extends ServerStage {
    /** A way to ask; none of them may wait for the thread's own read hold. */
    private enum Way {
        ACQUIRE(InterProcessLock::acquire),
        TRY(InterProcessLock::tryAcquire),
        TIMED(lock -> lock.tryAcquire(Duration.ofSeconds(30))),
        TIMED_ZERO(lock -> lock.tryAcquire(Duration.ZERO)),
        LOCK(lock -> lock.asLock().lock()),
        LOCK_INTERRUPTIBLY(lock -> lock.asLock().lockInterruptibly()),
        TRY_LOCK(lock -> lock.asLock().tryLock()),
        TRY_LOCK_TIMED(lock -> lock.asLock().tryLock(30, TimeUnit.SECONDS));

        @FunctionalInterface
        private interface Asking {
            void on(InterProcessLock lock) throws InterruptedException;
        }

        private final Asking asking;

        Way(Asking asking) {
            this.asking = asking;
        }

        void ask(InterProcessLock lock) throws InterruptedException {
            asking.on(lock);
        }
    }

    private ZooKeeperClient client;
    private InterProcessLock read;
    private InterProcessLock write;
    private ZooKeeperClient others;
    private InterProcessReadWriteLock rival;

    @BeforeEach
    void connect() throws InterruptedException {
        // With a session so long that no lease is checked while requests are counted.
        client = client();
        others = client();
        InterProcessReadWriteLock lock = new InterProcessReadWriteLock(client, path);
        read = lock.readLock();
        write = lock.writeLock();
        rival = new InterProcessReadWriteLock(others, path);
    }

    /** What the thread holds is what is seen of it, here, at the server and by others. */
    private void assertHolds(int reads, int writes) {
        assertThat(List.of(read.holdCount(), write.holdCount())).containsExactly(reads, writes);
        assertThat(read.isHeldByCurrentThread()).isEqualTo(reads > 0);
        assertThat(write.isHeldByCurrentThread()).isEqualTo(writes > 0);
        assertThat(read.isAcquiredInThisProcess()).isEqualTo(reads > 0);
        assertThat(write.isAcquiredInThisProcess()).isEqualTo(writes > 0);
        assertThat(nodes("__READ__")).isEqualTo(reads > 0 ? 1 : 0);
        assertThat(nodes("__WRIT__")).isEqualTo(writes > 0 ? 1 : 0);
        rival.readLock()
                .tryAcquire()
                .ifPresentOrElse(Lease::close, () -> assertThat(writes).isPositive());
        rival.writeLock()
                .tryAcquire()
                .ifPresentOrElse(Lease::close, () -> assertThat(reads + writes).isPositive());
    }

    private long nodes(String kind) {
        return server.children(path).stream()
                .filter(name -> name.contains(kind))
                .count();
    }

    @Test
    void everyOrderOfReadsInWritesAndOfTheirReleases_keepsWhatIsStillHeld() throws Exception {
        for (int choice = 0; choice < 8; choice++) {
            // The first is always a write; the bits say what the others are.
            for (List<Integer> order : orders(List.of(0, 1, 2, 3))) {
                List<Lease> leases = new ArrayList<>();
                int[] count = new int[2];
                List<Integer> sides = List.of(1, choice & 1, choice >> 1 & 1, choice >> 2 & 1);
                for (int side : sides) {
                    leases.add((side == 1 ? write : read).acquire());
                    count[side]++;
                }
                for (int next : order) {
                    leases.get(next).close();
                    count[sides.get(next)]--;
                    assertThat(List.of(read.holdCount(), write.holdCount())).containsExactly(count[0], count[1]);
                    assertThat(nodes("__READ__")).isEqualTo(Math.min(1, count[0]));
                    assertThat(nodes("__WRIT__")).isEqualTo(Math.min(1, count[1]));
                }
            }
        }
        assertHolds(0, 0);
    }

    private static List<List<Integer>> orders(List<Integer> of) {
        if (of.isEmpty()) {
            return List.of(List.of());
        }
        List<List<Integer>> orders = new ArrayList<>();
        for (Integer first : of) {
            List<Integer> others = new ArrayList<>(of);
            others.remove(first);
            for (List<Integer> rest : orders(others)) {
                List<Integer> order = new ArrayList<>(List.of(first));
                order.addAll(rest);
                orders.add(order);
            }
        }
        return orders;
    }

    @ParameterizedTest
    @EnumSource
    @Tag("H31")
    void upgradeAfterADowngrade_isRefusedToo_untilTheReadHoldIsReleased(Way way) throws Exception {
        Lease writing = write.acquire();
        way.ask(read);
        way.ask(write); // still a re-entry
        write.release();
        writing.close();
        assertThatThrownBy(() -> way.ask(write)).isInstanceOf(LockRefusedException.class);
        read.release();
        way.ask(write);
        write.release();
        assertHolds(0, 0);
    }

    @Test
    void otherThread_neitherDowngradesNorReentersNorIsRefused() throws Exception {
        Lease writing = write.acquire();
        onAnotherThread(() -> {
            assertThat(read.tryAcquire()).isEmpty();
            assertThat(TimedTry.on(write)).isEmpty();
            assertThatThrownBy(writing::close).isInstanceOf(IllegalMonitorStateException.class);
        });
        writing.close();
        Lease reading = read.acquire();
        onAnotherThread(() -> {
            read.acquire().close();
            assertThat(write.tryAcquire()).isEmpty(); // it holds nothing, so this is no upgrade
        });
        reading.close();
    }

    private void onAnotherThread(Workers.Body body) throws InterruptedException {
        Workers workers = opened(new Workers());
        workers.start("another", body);
        workers.join(Duration.ofSeconds(120));
    }

    @Test
    void asyncRequestOfAWriter_queues_insteadOfDowngrading() throws Exception {
        Lease writing = write.acquire();
        CompletableFuture<Lease> reader = read.acquireAsync();
        awaitNodes(2);
        assertThat(read.tryAcquire()).isPresent().get().satisfies(Lease::close); // while this does
        assertThat(reader).isNotDone();
        writing.close();
        Soon.get(reader).close();
    }

    @Test
    void asyncRequestOfAReader_queues_insteadOfUpgrading() throws Exception {
        Lease reading = read.acquire();
        CompletableFuture<Lease> writer = write.acquireAsync();
        awaitNodes(2);
        reading.close();
        Lease writing = Soon.get(writer);
        // The lease belongs to no thread, so this thread neither re-enters nor is refused.
        assertThat(read.tryAcquire()).isEmpty();
        assertThat(write.tryAcquire()).isEmpty();
        assertThat(write.isHeldByCurrentThread()).isFalse();
        writing.close();
        assertHolds(0, 0);
    }
}
