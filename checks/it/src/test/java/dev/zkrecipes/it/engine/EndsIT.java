// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.handoff.HandoffMutex;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The table "How things end" in docs/operations.md: each kind of hold by each way out. */
@Tag("H153")
class EndsIT extends ServerStage {
    private static final Duration LONG = Duration.ofSeconds(30);
    private final List<String> told = new CopyOnWriteArrayList<>();
    private FaultProxy proxy;
    private ZooKeeperClient client; // behind the proxy
    private ZooKeeperClient second;
    private ZooKeeperClient rival;

    enum Kind {
        LEASE,
        ASYNCHRONOUS_LEASE,
        MULTI_LOCK,
        MULTI_LOCK_OF_TWO_CLIENTS,
        HANDOFF
    }

    enum WayOut {
        CLOSE(LeaseState.RELEASED),
        CLOSE_ASYNC(LeaseState.RELEASED),
        CLOSE_AFTER(LeaseState.RELEASED),
        CLOSE_AND_THEN_THE_CLIENT(LeaseState.RELEASED),
        CLIENT(LeaseState.LOST),
        SESSION(LeaseState.LOST),
        TIME(LeaseState.LOST);

        private final LeaseState end;

        WayOut(LeaseState end) {
            this.end = end;
        }
    }

    static Stream<Arguments> cells() {
        return Arrays.stream(Kind.values())
                .flatMap(kind -> Arrays.stream(WayOut.values())
                        // Its leases belong to their threads, and it has no time of its own.
                        .filter(way -> kind != Kind.MULTI_LOCK_OF_TWO_CLIENTS
                                || (way != WayOut.CLOSE_AFTER && way != WayOut.TIME))
                        .map(way -> arguments(kind, way)));
    }

    @BeforeEach
    void connect() throws InterruptedException {
        proxy = proxy();
        client = client(proxy, LONG);
        second = client(LONG);
        rival = client(LONG);
    }

    @AfterEach
    void close() {
        List.of(client, second, rival).forEach(ZooKeeperClient::close);
    }

    private InterProcessLock lock(Kind kind, LockOptions options) {
        return switch (kind) {
            case LEASE, ASYNCHRONOUS_LEASE -> new InterProcessMutex(client, path, options);
            case MULTI_LOCK -> new InterProcessMultiLock(client, List.of(path, path + "-b"), options);
            case MULTI_LOCK_OF_TWO_CLIENTS ->
                new InterProcessMultiLock(List.of(
                        new InterProcessMutex(client, path, options),
                        new InterProcessMutex(second, path + "-b", options)));
            case HANDOFF -> new HandoffMutex(client, path, 5, options);
        };
    }

    private void takeOut(WayOut way, Lease lease) {
        switch (way) {
            case CLOSE -> lease.close();
            case CLOSE_ASYNC ->
                lease.closeAsync().orTimeout(120, TimeUnit.SECONDS).join();
            case CLOSE_AFTER -> {
                CompletableFuture<Void> closed = lease.closeAfter(Duration.ofMillis(200));
                closed.orTimeout(120, TimeUnit.SECONDS).join();
            }
            case CLOSE_AND_THEN_THE_CLIENT -> {
                lease.close();
                client.close();
            }
            case CLIENT -> client.close();
            case SESSION -> expire(client);
            case TIME -> lease.prolong(Duration.ofMillis(100));
        }
    }

    @ParameterizedTest
    @MethodSource("cells")
    void eachWayOut_ofEachKind(Kind kind, WayOut way) throws InterruptedException {
        LockOptions options = way == WayOut.TIME
                ? LockOptions.defaults().withHoldAtMost(Duration.ofMinutes(10))
                : LockOptions.defaults();
        InterProcessLock lock = lock(kind, options);
        Lease lease = kind == Kind.ASYNCHRONOUS_LEASE ? lock.acquireAsync().join() : lock.acquire();
        lease.onLost(() -> told.add("lost"));
        var unused = lease.ended().thenAccept(how -> told.add("ended " + how));
        List<LeaseState> uponNext = new CopyOnWriteArrayList<>();
        List<String> lastMember = new CopyOnWriteArrayList<>();
        CompletableFuture<Lease> next = new InterProcessMutex(rival, path).acquireAsync();
        CompletableFuture<Void> afterwards = next.thenAccept(granted -> {
            uponNext.add(lease.state());
            if (kind == Kind.MULTI_LOCK_OF_TWO_CLIENTS) {
                lastMember.addAll(server.children(path + "-b"));
            }
            proxy.resume();
        });
        awaitNodes(2);
        // A hand-off would pass to it, before the next.
        boolean waits =
                kind != Kind.MULTI_LOCK_OF_TWO_CLIENTS && !(kind == Kind.HANDOFF && way.end == LeaseState.RELEASED);
        CompletableFuture<Lease> waiter = waits ? lock.acquireAsync() : new CompletableFuture<>();
        if (waits && kind != Kind.HANDOFF) {
            awaitNodes(3);
        }
        if (way != WayOut.SESSION) { // which the server ends before its client can know
            proxy.pauseReplies(); // so the client hears that its node is gone when the next one has been granted
        }
        takeOut(way, lease);
        // Not before: the waiter would be granted while the client is not closed yet.
        var closed = next.thenCompose(Lease::closeAsync);
        if (way.end == LeaseState.RELEASED) {
            assertThat(lease.state()).as("when it has returned").isEqualTo(LeaseState.RELEASED);
        }
        Soon.await().until(() -> told.contains("ended " + way.end) && afterwards.isDone());
        assertThat(lease.state()).isEqualTo(way.end);
        if (way != WayOut.SESSION) {
            assertThat(uponNext).as("as the next one was granted").containsExactly(way.end);
        }
        if (way == WayOut.CLOSE || way == WayOut.CLOSE_AND_THEN_THE_CLIENT) {
            assertThat(lastMember).as("goes first").isEmpty();
        }
        if (way.end == LeaseState.LOST) {
            Soon.await().until(() -> told.contains("lost"));
        }
        assertThat(told).as("once").doesNotHaveDuplicates().hasSize(way.end == LeaseState.LOST ? 2 : 1);
        if (way == WayOut.CLIENT || way == WayOut.CLOSE_AND_THEN_THE_CLIENT) {
            assertThat(client.connectionState()).isEqualTo(ConnectionState.CLOSED);
            if (waits) {
                assertThatThrownBy(() -> waiter.orTimeout(120, TimeUnit.SECONDS).join())
                        .isInstanceOf(CompletionException.class)
                        .hasCauseInstanceOf(ClientClosedException.class);
            }
        } else if (waits) {
            waiter.orTimeout(120, TimeUnit.SECONDS).join().close();
        }
        if (kind == Kind.MULTI_LOCK_OF_TWO_CLIENTS && way.end == LeaseState.LOST) {
            assertThat(server.children(path + "-b"))
                    .as("the other member stays")
                    .hasSize(1);
            lease.close();
        }
        lease.close();
        awaitNodes(0);
        if (kind == Kind.MULTI_LOCK || kind == Kind.MULTI_LOCK_OF_TWO_CLIENTS) {
            Soon.await().until(() -> server.children(path + "-b").isEmpty());
        }
    }
}
