// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.multilock;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.internal.ServerStage;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Who is told that a multi-lock of several clients is lost, and on which thread. */
@Tag("H91")
class MixedLockListenersIT extends ServerStage {
    private final CountDownLatch released = new CountDownLatch(1);

    @AfterEach
    void close() {
        released.countDown();
    }

    private Lease acquire(ZooKeeperClient... members) throws InterruptedException {
        List<InterProcessLock> locks = IntStream.range(0, members.length)
                .<InterProcessLock>mapToObj(
                        i -> new LockInternals(members[i], "/listeners/" + i, new MutexDriver(), LockOptions.defaults())
                                .threadOwned())
                .toList();
        return new InterProcessMultiLock(locks).acquire();
    }

    private void block() {
        try {
            released.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void lossListeners_runOnTheirOwnThreads_evenIfAddedAfterTheLoss() throws Exception {
        ZooKeeperClient second = client();
        Lease lease = acquire(client(), second);
        CompletableFuture<String> before = new CompletableFuture<>();
        lease.onLost(this::block); // holds up no other
        lease.onLost(() -> before.complete(Thread.currentThread().getName()));
        expire(second);
        assertThat(before.get(120, TimeUnit.SECONDS)).startsWith("zkrecipes-loss-");
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);

        for (boolean closed : List.of(false, true)) {
            CompletableFuture<String> after = new CompletableFuture<>();
            lease.onLost(() -> after.complete(Thread.currentThread().getName()));
            assertThat(after.get(120, TimeUnit.SECONDS))
                    .as("closed: %s", closed)
                    .startsWith("zkrecipes-loss-");
            lease.close();
        }
    }

    @Test
    @Tag("soak")
    void failingLossListener_isLogged() throws Exception {
        ZooKeeperClient second = client();
        Lease lease = acquire(client(), second);
        AtomicInteger told = new AtomicInteger();
        PrintStream terminal = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            lease.onLost(() -> {
                throw new IllegalStateException("listener before the loss");
            });
            lease.onLost(told::incrementAndGet);
            expire(second);
            await().until(() -> told.get() == 1);
            lease.onLost(() -> {
                throw new IllegalStateException("listener after the loss");
            });
            await().until(() -> printed.toString(StandardCharsets.UTF_8).contains("listener before the loss"));
            await().until(() -> printed.toString(StandardCharsets.UTF_8).contains("listener after the loss"));
        } finally {
            System.setErr(terminal);
        }
        assertThat(printed.toString(StandardCharsets.UTF_8)).contains("A callback of the application failed");
        lease.close();
    }

    @Test
    void end_isToldWhereTheFirstClientCallsBack() throws Exception {
        ExecutorService mine = Executors.newSingleThreadExecutor(task -> new Thread(task, "mine"));
        try (ZooKeeperClient first = TestClients.connect(settings().callbackExecutor(mine))) {
            Lease lease = acquire(first, client());
            CompletableFuture<String> told = new CompletableFuture<>();
            var unused = lease.ended()
                    .thenAccept(state ->
                            told.complete(state + " " + Thread.currentThread().getName()));
            lease.close();
            assertThat(told.get(120, TimeUnit.SECONDS)).isEqualTo("RELEASED mine");
        } finally {
            mine.shutdown();
        }
    }

    @Test
    void listenerOfAReleasedLease_isNeverRun() throws Exception {
        ZooKeeperClient second = client();
        Lease lease = acquire(client(), second);
        AtomicInteger told = new AtomicInteger();
        lease.onLost(told::incrementAndGet);
        lease.close();
        lease.onLost(told::incrementAndGet);
        assertThat(lease.ended().toCompletableFuture().get(120, TimeUnit.SECONDS))
                .isEqualTo(LeaseState.RELEASED);
        second.close();
        assertThat(told).hasValue(0);
        assertThatThrownBy(() -> lease.onLost(null)).isInstanceOf(NullPointerException.class);
    }
}
