// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.internal.ServerStage;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Callbacks of the application that wait, for the library itself too, keep no news from anybody. */
@Tag("H76")
class BlockingCallbacksIT extends ServerStage {
    private final CountDownLatch released = new CountDownLatch(1);

    private void block() {
        try {
            released.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Requests with a continuation each, which completes with the name of its thread. Each waits for another client's lock
     * until it has that: the continuation of a completed future would run on this thread.
     */
    private List<CompletableFuture<String>> whenGranted(
            ZooKeeperClient client, String parent, int count, Consumer<Lease> continuation) throws Exception {
        List<CompletableFuture<String>> all = new ArrayList<>();
        try (ZooKeeperClient other = TestClients.connect(settings())) {
            for (int i = 0; i < count; i++) {
                Lease held = new InterProcessMutex(other, parent + "/" + i).acquire();
                all.add(new InterProcessMutex(client, held.path())
                        .acquireAsync()
                        .thenApply(lease -> {
                            continuation.accept(lease);
                            return Thread.currentThread().getName();
                        }));
            }
        }
        return all;
    }

    @Test
    void nineContinuationsAwaitingTheirRelease_allEnd_andALaterLossIsReported() throws Exception {
        ZooKeeperClient client = client(settings());
        CountDownLatch granted = new CountDownLatch(9);
        List<CompletableFuture<String>> continuations = whenGranted(client, "/blocking", 9, lease -> {
            granted.countDown();
            awaitAll(granted); // all nine are in their callbacks now
            lease.closeAsync().join();
        });
        for (CompletableFuture<String> continuation : continuations) {
            continuation.get(120, TimeUnit.SECONDS);
        }
        Lease lease = new InterProcessMutex(client, "/blocking/held").acquire();
        CompletableFuture<String> told = new CompletableFuture<>();
        lease.onLost(() -> told.complete(Thread.currentThread().getName()));
        expire(client);
        assertThat(told.get(120, TimeUnit.SECONDS)).startsWith("zkrecipes-loss-");
        lease.close();
    }

    private static void awaitAll(CountDownLatch latch) {
        try {
            assertThat(latch.await(120, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void executorFullOfBlockedCallbacks_hidesNoLoss() throws Exception {
        ExecutorService two = Executors.newFixedThreadPool(2);
        try (ZooKeeperClient client = TestClients.connect(settings().callbackExecutor(two))) {
            CountDownLatch blocked = new CountDownLatch(2);
            var unused = whenGranted(client, "/full", 3, lease -> {
                blocked.countDown();
                block();
            });
            awaitAll(blocked);
            Lease lease = new InterProcessMutex(client, "/full/held").acquire();
            CompletableFuture<Void> told = new CompletableFuture<>();
            lease.onLost(() -> told.complete(null));
            lease.onLost(this::block); // holds up no other listener
            CompletableFuture<LeaseState> ended = lease.ended().toCompletableFuture();
            expire(client);
            told.get(120, TimeUnit.SECONDS);
            assertThat(ended.get(120, TimeUnit.SECONDS)).isEqualTo(LeaseState.LOST);
            lease.close();
            released.countDown();
        } finally {
            released.countDown();
            two.shutdownNow();
        }
    }

    @Test
    @Tag("H28")
    void blockedConnectionListener_delaysNoOther() throws Exception {
        try (ZooKeeperClient client = TestClients.connect(settings())) {
            CompletableFuture<Void> told = new CompletableFuture<>();
            client.addConnectionListener(state -> block());
            client.addConnectionListener(state -> {
                if (state == ConnectionState.EXPIRED) {
                    told.complete(null);
                }
            });
            expire(client);
            told.get(120, TimeUnit.SECONDS);
        } finally {
            released.countDown();
        }
    }

    @Test
    @Tag("alone")
    void rejectedCallback_isLogged_andRunsOnAClientThread() throws Exception {
        ExecutorService closed = Executors.newFixedThreadPool(1);
        closed.shutdown();
        PrintStream terminal = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try (ZooKeeperClient client = TestClients.connect(settings().callbackExecutor(closed))) {
            CompletableFuture<String> told =
                    whenGranted(client, "/refused", 1, Lease::close).get(0);
            assertThat(told.get(120, TimeUnit.SECONDS)).startsWith("zkrecipes-callback-");
            await().until(() -> printed.toString(StandardCharsets.UTF_8).contains("WARN"));
        } finally {
            System.setErr(terminal);
        }
        assertThat(printed.toString(StandardCharsets.UTF_8))
                .contains(
                        "The application's callback executor refused a callback, so it runs on a thread of the lock client.")
                .contains("RejectedExecutionException");
    }
}
