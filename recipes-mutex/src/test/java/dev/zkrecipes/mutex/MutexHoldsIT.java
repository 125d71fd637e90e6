// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.mutex;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which thread may release which hold, how often, and what remains of the lock afterwards. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // some waits end by no interrupt
@WithZooKeeper
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MutexHoldsIT {
    private static final int ONE = 0;
    private static final int OTHER = 1;

    private enum Step {
        ACQUIRE,
        RELEASE,
        CLOSE
    }

    /** A step and the thread that takes it. */
    private record Move(Step step, int thread) {}

    private final List<ExecutorService> threads =
            List.of(Executors.newSingleThreadExecutor(), Executors.newSingleThreadExecutor());
    private EmbeddedZooKeeper server;
    private ZooKeeperClient client;
    private String path;

    @BeforeAll
    void open(EmbeddedZooKeeper started) throws InterruptedException {
        server = started;
        client = TestClients.connect(server.connectString());
    }

    @BeforeEach
    void name() {
        path = "/holds/" + UUID.randomUUID();
    }

    @AfterAll
    void close() {
        client.close();
        threads.forEach(ExecutorService::shutdownNow);
    }

    // ---- Every order.

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("H61")
    @Tag("soak")
    void everyOrderOfAcquireReleaseAndClose_fromTwoThreads_countsEachHoldOnce(boolean byThread) throws Exception {
        InterProcessLock lock =
                byThread ? new InterProcessMutex(client, path) : new InterProcessSemaphoreMutex(client, path);
        Set<List<Step>> orders = orders(List.of(Step.ACQUIRE, Step.RELEASE, Step.CLOSE, Step.CLOSE));
        assertThat(orders).hasSize(12);
        for (List<Step> order : orders) {
            for (int choice = 0; choice < 1 << order.size(); choice++) {
                for (int closed : new int[] {0, 1}) {
                    play(lock, new HoldModel(byThread), moves(order, choice), closed);
                }
            }
        }
    }

    /** Every order of the steps, those that look the same once. */
    private static Set<List<Step>> orders(List<Step> steps) {
        if (steps.isEmpty()) {
            return Set.of(List.of());
        }
        Set<List<Step>> orders = new LinkedHashSet<>();
        for (Step first : steps) {
            List<Step> others = new ArrayList<>(steps);
            others.remove(first);
            for (List<Step> rest : orders(others)) {
                orders.add(Stream.concat(Stream.of(first), rest.stream()).toList());
            }
        }
        return orders;
    }

    /** The first acquire is always by the same thread, the others by those whose bits are set. */
    private static List<Move> moves(List<Step> order, int choice) {
        List<Move> moves = new ArrayList<>();
        moves.add(new Move(Step.ACQUIRE, ONE));
        for (int i = 0; i < order.size(); i++) {
            moves.add(new Move(order.get(i), (choice >> i) & 1));
        }
        return moves;
    }

    /** After a pause of the process a lease that is held is SUSPENDED until the server has answered. */
    private static LeaseState settled(Lease lease) {
        if (lease.state() == LeaseState.SUSPENDED) {
            await().until(() -> lease.state() != LeaseState.SUSPENDED);
        }
        return lease.state();
    }

    /** Takes the steps and compares with the model after each; closes the lease of this index once it exists. */
    private void play(InterProcessLock lock, HoldModel model, List<Move> moves, int closed) throws Exception {
        List<Lease> leases = new ArrayList<>();
        for (Move move : moves) {
            int thread = move.thread();
            String what = move + " of " + moves + ", closing lease " + closed;
            switch (move.step()) {
                case ACQUIRE -> {
                    HoldModel.Answer expected = model.tryAcquire(thread);
                    var lease = on(thread, lock::tryAcquire);
                    assertThat(lease.isPresent()).as(what).isEqualTo(expected == HoldModel.Answer.DONE);
                    lease.ifPresent(leases::add);
                }
                case RELEASE -> assertAnswer(what, model.release(thread), thread, lock::release);
                case CLOSE -> {
                    if (closed < leases.size()) {
                        assertAnswer(what, model.close(closed, thread), thread, leases.get(closed)::close);
                    }
                }
            }
            assertThat(leases).as(what).hasSize(model.leases());
            for (int i = 0; i < leases.size(); i++) {
                LeaseState expected = model.isOpen(i) ? LeaseState.HELD : LeaseState.RELEASED;
                assertThat(settled(leases.get(i))).as(what).isEqualTo(expected);
            }
            for (int asking : new int[] {ONE, OTHER}) {
                assertThat(on(asking, lock::holdCount)).as(what).isEqualTo(model.holdCount(asking));
                assertThat(on(asking, lock::isHeldByCurrentThread)).as(what).isEqualTo(model.holdCount(asking) > 0);
            }
            assertThat(lock.isAcquiredInThisProcess()).as(what).isEqualTo(model.isHeld());
            assertThat(server.children(path)).as(what).hasSize(model.isHeld() ? 1 : 0);
        }
        for (int thread : new int[] {ONE, OTHER}) {
            while (on(thread, lock::holdCount) > 0) {
                on(thread, Executors.callable(lock::release));
            }
        }
        assertThat(server.children(path)).isEmpty();
    }

    private void assertAnswer(String what, HoldModel.Answer expected, int thread, Runnable call) throws Exception {
        if (expected == HoldModel.Answer.NOT_OWNER) {
            assertThatThrownBy(() -> on(thread, Executors.callable(call)))
                    .as(what)
                    .isInstanceOf(IllegalMonitorStateException.class)
                    .hasMessageContaining(path);
        } else {
            on(thread, Executors.callable(call));
        }
    }

    private <T> T on(int thread, Callable<T> call) throws Exception {
        try {
            return threads.get(thread).submit(call).get(120, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw (Exception) e.getCause();
        }
    }

    @Test
    @Tag("H43")
    void acquireAsyncByTheHolder_waitsForItsOwnHold() throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        Lease held = mutex.acquire();
        CompletableFuture<Lease> wanted = mutex.acquireAsync();
        await().until(() -> server.children(path).size() == 2);
        mutex.acquire().close(); // one thread's release leaves the waiters alone
        assertThat(wanted).isNotDone();
        held.close();
        wanted.get(120, TimeUnit.SECONDS).close();
    }
}
