// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.semaphore;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.Held;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The limit: kept in ZooKeeper, the same for all, changed for all; and what is shown of its use. */
class SemaphoreLimitIT extends ServerStage {
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
        semaphore = new InterProcessSemaphore(client, path, 4);
        others = new InterProcessSemaphore(other, path, 4);
    }

    private String data() {
        return new String(server.data(path).orElseThrow(), StandardCharsets.UTF_8);
    }

    @Test
    void firstUser_writesTheLimit_whichStays() throws Exception {
        semaphore.acquire(2).close();
        assertThat(data()).isEqualTo("zkrecipes 1\nconfigured=4\ncurrent=4\n");
        semaphore.resize(9);
        assertThat(data()).isEqualTo("zkrecipes 1\nconfigured=4\ncurrent=9\n");
        others.acquire(9).close();
        server.reapContainers();
        assertThat(others.maxLeases()).isEqualTo(9);
    }

    @Test
    @Tag("H24")
    void requestAboveTheLimit_isRefused_evenForTheFirstUser() {
        assertThatThrownBy(() -> semaphore.acquire(5))
                .isInstanceOf(LockRefusedException.class)
                .hasMessageContaining("asks for 5 permits, and the limit is 4");
        assertThat(server.nodeExists(path)).isFalse();
    }

    @Test
    @Tag("H84")
    void revokerAfterAResizeToFewer_asksAllHolders_andNoLaterRequest() throws Exception {
        semaphore.resize(3);
        List<Lease> held = List.of(semaphore.acquire(), semaphore.acquire(), semaphore.acquire());
        List<Lease> asked = new CopyOnWriteArrayList<>();
        held.forEach(lease -> lease.onRevocationRequested(request -> asked.add(lease)));
        semaphore.resize(1);
        CompletableFuture<Lease> later = others.acquireAsync();
        awaitNodes(4);

        assertThat(new Revoker(other).request(semaphore.permits(1))).hasSize(3);
        await().until(() -> asked.size() == 3);
        assertThat(asked).containsExactlyInAnyOrderElementsOf(held);

        held.forEach(Lease::close);
        try (Lease last = later.get(120, TimeUnit.SECONDS)) {
            Soon.await().until(last::isValid);
            assertThat(new Revoker(client).request(semaphore.permits(1))).hasSize(1);
        }
    }

    @Test
    void differentlyConfiguredProcess_isRefused_namingBothNumbers() throws Exception {
        semaphore.acquire().close();
        InterProcessSemaphore wrong = new InterProcessSemaphore(other, path, 5);
        for (ThrowingCallable call : List.<ThrowingCallable>of(
                wrong::acquire,
                wrong::tryAcquire,
                () -> wrong.tryAcquire(Duration.ofSeconds(20)),
                wrong::availablePermits,
                wrong::queueLength,
                wrong::maxLeases,
                wrong::participants,
                () -> wrong.resize(7))) {
            assertThatThrownBy(call)
                    .isInstanceOf(LockRefusedException.class)
                    .hasMessageContaining(path)
                    .hasMessageContaining("was made with 4 permits")
                    .hasMessageContaining("configured with 5");
        }
        awaitNodes(0);
        assertThat(semaphore.maxLeases()).isEqualTo(4);
    }

    @Test
    void resizeBetweenAWaitersListAndItsWatch_isNotMissed() throws Exception {
        Lease held = semaphore.acquire(4);
        Held list = proxy.holdReply(RequestType.MULTI_READ, 1);
        CompletableFuture<Lease> waiting = others.acquireAsync(2);
        list.awaitReached(Duration.ofSeconds(120));
        semaphore.resize(6);
        list.release();
        waiting.get(120, TimeUnit.SECONDS).close();
        held.close();
    }

    @Test
    void semaphoreDeletedWhileItIsFree_isRecreated() throws Exception {
        semaphore.acquire().close();
        semaphore.resize(2);
        server.deleteNode(path);
        assertThat(others.maxLeases()).isEqualTo(4);
        others.acquire(4).close();
        assertThat(data()).contains("current=4");
    }

    @Test
    void participants_areShownWithTheirPermits() throws Exception {
        assertThat(semaphore.participants()).isEmpty();
        assertThat(semaphore.availablePermits()).isEqualTo(4);
        assertThat(semaphore.queueLength()).isZero();
        Lease held = semaphore.acquire(3);
        CompletableFuture<Lease> waiting = others.acquireAsync(2);
        awaitNodes(2);
        assertThat(semaphore.participants())
                .extracting(InterProcessSemaphore::permitsOf)
                .containsExactly(3, 2);
        assertThat(semaphore.participants())
                .extracting(participant -> participant.holding())
                .containsExactly(true, false);
        assertThat(semaphore.availablePermits()).isEqualTo(1);
        assertThat(others.queueLength()).isEqualTo(1);
        held.close();
        Soon.get(waiting).close();
    }
}
