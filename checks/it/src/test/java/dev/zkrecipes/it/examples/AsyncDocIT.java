// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** The Java of {@code docs/async.md} is that of this test, in Reactor as it is. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@SuppressWarnings("FutureReturnValueIgnored") // as the page has it: the node goes in the background
@WithZooKeeper
class AsyncDocIT {
    private static final String PATH = "/async";

    private final EmbeddedZooKeeper server;
    private final TestClients clients;
    private final InterProcessMutex mutex;

    AsyncDocIT(EmbeddedZooKeeper server) throws InterruptedException {
        this.server = server;
        this.clients = TestClients.of(server);
        this.mutex = new InterProcessMutex(clients.open(), PATH);
    }

    @AfterEach
    void close() {
        awaitQueue(0);
        clients.close();
    }

    static <T> Mono<T> underLock(InterProcessLock lock, Function<Lease, Mono<T>> work) {
        return Mono.usingWhen(
                Mono.fromFuture(lock::acquireAsync).doOnDiscard(Lease.class, Lease::closeAsync),
                work,
                lease -> Mono.fromFuture(lease::closeAsync));
    }

    private static CompletableFuture<String> work(Lease lease) {
        return CompletableFuture.completedFuture("under " + lease.path());
    }

    private void awaitQueue(int length) {
        Soon.await().untilAsserted(() -> assertThat(server.children(PATH)).hasSize(length));
    }

    @Test
    void future_isLimitedWhereItIsMade() {
        CompletableFuture<String> result = mutex.acquireAsync()
                .orTimeout(30, TimeUnit.SECONDS)
                .thenCompose(lease -> work(lease).whenComplete((value, failure) -> lease.closeAsync()));
        assertThat(Soon.get(result)).isEqualTo("under " + PATH);
    }

    @Test
    void mono_worksUnderTheLock_andGivesItBack() {
        Mono<String> counted = underLock(mutex, lease -> Mono.fromSupplier(() -> "under " + lease.path()));
        assertThat(counted.block()).isEqualTo("under " + PATH);
        assertThatThrownBy(() -> underLock(mutex, lease -> Mono.error(new IllegalStateException("fails")))
                        .block())
                .hasMessage("fails");
    }

    @Test
    void monoThatIsCancelled_leavesTheQueue_orGivesTheLockBack() {
        Disposable holder = underLock(mutex, lease -> Mono.never()).subscribe();
        awaitQueue(1);
        Disposable waiter = underLock(mutex, lease -> Mono.never()).subscribe();
        awaitQueue(2);
        assertThatThrownBy(() -> underLock(mutex, lease -> Mono.never())
                        .timeout(Duration.ofMillis(50))
                        .block())
                .hasCauseInstanceOf(TimeoutException.class);
        waiter.dispose();
        awaitQueue(1);
        holder.dispose();
    }

    @Test
    void monoThatIsCancelledAsItIsGranted_closesTheLease() {
        AtomicBoolean closed = new AtomicBoolean();
        Lease lease = whose("closeAsync", Lease.class, () -> {
            closed.set(true);
            return CompletableFuture.completedFuture(null);
        });
        CompletableFuture<Lease> request = new CompletableFuture<>() {
            @Override
            public boolean cancel(boolean mayInterrupt) {
                complete(lease); // came first
                return false;
            }
        };
        InterProcessLock lock = whose("acquireAsync", InterProcessLock.class, () -> request);
        underLock(lock, granted -> Mono.never()).subscribe().dispose();
        assertThat(closed).isTrue();
    }

    /** An instance of which this method alone is called. */
    private static <T> T whose(String called, Class<T> type, Supplier<?> answer) {
        return type.cast(
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    assertThat(method.getName()).isEqualTo(called);
                    return answer.get();
                }));
    }
}
