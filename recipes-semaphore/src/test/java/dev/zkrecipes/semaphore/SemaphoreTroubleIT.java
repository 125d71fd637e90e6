// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.semaphore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.Fault;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lost replies, changes by others, and requests that leave. */
class SemaphoreTroubleIT extends ServerStage {
    private static final int LIMIT = 4;
    private static final Duration SOON = Duration.ofSeconds(120);
    private FaultProxy proxy;
    private ZooKeeperClient client;
    private ZooKeeperClient other;
    private InterProcessSemaphore semaphore;
    private InterProcessSemaphore others;

    @BeforeEach
    void connect() throws InterruptedException {
        proxy = proxy();
        client = client();
        other = client(proxy);
        semaphore = new InterProcessSemaphore(client, path, LIMIT);
        others = new InterProcessSemaphore(other, path, LIMIT);
    }

    // ---- Requests that leave.

    @Test
    @Tag("H42")
    void abandonedRequests_leaveNoNodesAndNoWatches() throws Exception {
        Lease held = semaphore.acquire(LIMIT);
        String holder = path + "/" + server.children(path).get(0);
        for (int i = 0; i < 100; i++) {
            CompletableFuture<Lease> leaving = others.acquireAsync(1 + i % LIMIT);
            Soon.await().until(() -> server.childWatchers(holder).size() == 1);
            leaving.cancel(true);
            awaitNodes(1);
            // On the holder and on the limit. The server takes one on a deleted node away just after the node.
            Soon.await().until(() -> server.watchCount() <= 2);
        }
        held.close();
        // The server's side of the one on the limit stays.
        Soon.await().until(() -> server.childWatchers(holder).isEmpty() && server.watchCount() <= 1);
    }

    @Test
    void firstUserWithALostReply_findsItsOwnSemaphore() throws Exception {
        Fault lost = proxy.dropReply(RequestType.MULTI, 1);
        others.acquire(2).close();
        lost.awaitFired(SOON);
        assertThat(semaphore.maxLeases()).isEqualTo(LIMIT);
    }

    @Test
    void resizeWithALostReply_isReportedAsUnknown_andMayBeRepeated() throws Exception {
        semaphore.acquire().close();
        Fault lost = proxy.dropReply(RequestType.MULTI, 1);
        assertThatThrownBy(() -> others.resize(7))
                .isInstanceOf(LockConnectionException.class)
                .hasMessageContaining(path)
                .hasMessageContaining("not known whether it was changed");
        lost.awaitFired(SOON);
        assertThat(semaphore.maxLeases()).isEqualTo(7);
        // The lost answer may be told before the lost connection.
        Soon.await().ignoreExceptionsInstanceOf(LockConnectionException.class).until(() -> {
            others.resize(7);
            return true;
        });
        assertThat(semaphore.maxLeases()).isEqualTo(7);
    }

    @Test
    void questionsAndResize_withoutAConnection_failAtOnce() throws Exception {
        Lease lease = others.acquire();
        proxy.refuse();
        Soon.await().until(() -> !lease.isValid());
        for (ThrowingCallable call : List.<ThrowingCallable>of(
                () -> others.resize(7), others::availablePermits, others::queueLength, others::maxLeases)) {
            assertThatThrownBy(call)
                    .isInstanceOf(LockConnectionException.class)
                    .hasMessageContaining("not connected to ZooKeeper, so nobody can be asked");
        }
        assertThat(semaphore.maxLeases()).isEqualTo(LIMIT);
        proxy.accept();
        Soon.await().until(lease::isValid);
        lease.close();
    }

    @Test
    @Tag("H52")
    void interruptedResize_changesNothing() throws Exception {
        semaphore.acquire().close();
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> semaphore.resize(7)).isInstanceOf(InterruptedException.class);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(semaphore.maxLeases()).isEqualTo(LIMIT);
    }

    // ---- First users.

    @Test
    void differentlyConfiguredFirstUsers_areNeverBothGranted() throws Exception {
        for (int round = 0; round < 20; round++) {
            String fresh = path + "/round-" + round;
            List<CompletableFuture<Lease>> both = List.of(
                    new InterProcessSemaphore(client, fresh, 1).acquireAsync(),
                    new InterProcessSemaphore(other, fresh, 2).acquireAsync());
            Soon.await().until(() -> both.stream().allMatch(CompletableFuture::isDone));
            assertThat(both.stream().filter(CompletableFuture::isCompletedExceptionally))
                    .singleElement()
                    .satisfies(refused -> assertThatThrownBy(refused::join)
                            .hasCauseInstanceOf(LockRefusedException.class)
                            .hasMessageContaining(fresh));
            both.stream()
                    .filter(future -> !future.isCompletedExceptionally())
                    .forEach(future -> future.join().close());
            Soon.await().until(() -> server.children(fresh).isEmpty());
        }
    }

    // ---- Foreign hands.

    @ParameterizedTest
    @ValueSource(strings = {"", "zkrecipes 1\nconfigured=4\ncurrent=many\n", "zkrecipes 1\nconfigured=5\ncurrent=5\n"})
    void overwrittenLimit_failsWaiters_andTakesNothingFromHolders(String data) throws Exception {
        Lease held = semaphore.acquire(LIMIT);
        CompletableFuture<Lease> waiting = others.acquireAsync();
        awaitNodes(2);
        server.setData(path, data.getBytes(StandardCharsets.UTF_8));
        assertThat(waiting)
                .failsWithin(SOON)
                .withThrowableThat()
                .withCauseInstanceOf(LockRefusedException.class)
                .withMessageContaining(path);
        awaitNodes(1);
        held.verify();
        assertThatThrownBy(() -> semaphore.resize(5)).isInstanceOf(LockRefusedException.class);
        held.close();
        server.deleteNode(path);
        others.acquire(LIMIT).close();
    }
}
