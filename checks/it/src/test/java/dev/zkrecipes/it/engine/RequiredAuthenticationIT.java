// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.Fault;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.internal.Soon;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Servers that answer nothing to clients without an authentication, and keep their sessions. */
@Timeout(600)
@Tag("H110")
@Execution(ExecutionMode.CONCURRENT)
class RequiredAuthenticationIT {
    private static final String SASL = "zookeeper.sessionRequireClientSASLAuth=true"
            + " zookeeper.authProvider.sasl=org.apache.zookeeper.server.auth.SASLAuthenticationProvider";
    private static final String ENFORCED = "zookeeper.enforce.auth.enabled=true zookeeper.enforce.auth.schemes=digest";

    private static ZooKeeperClientBuilder builder(FaultProxy proxy) {
        return ZooKeeperClient.builder()
                .connectString(proxy.connectString())
                .sessionTimeout(Duration.ofSeconds(30))
                .requestTimeout(Duration.ofSeconds(20));
    }

    private static void assertRefused(CompletableFuture<Lease> request) {
        Soon.await().until(request::isDone);
        assertThatThrownBy(request::join)
                .cause()
                .isInstanceOf(LockAccessException.class)
                .hasMessageContainingAll(
                        "the lock /required cannot be ",
                        "sessionRequireClientSASLAuth",
                        "enforce.auth.enabled",
                        "check its auth settings");
    }

    private static long comings(FaultProxy proxy) {
        return proxy.requestsSeen().of(RequestType.CREATE_SESSION)
                + proxy.requestsSeen().of(RequestType.RESUME_SESSION);
    }

    @ParameterizedTest
    @ValueSource(strings = {SASL, ENFORCED})
    void missingAuthentication_isNamed_andNoRequestComesAgain(String settings) throws Exception {
        try (ServerJvm server = new ServerJvm(settings.split(" "));
                FaultProxy proxy = FaultProxy.to("127.0.0.1", server.port());
                ZooKeeperClient client = builder(proxy).build()) {
            assertThat(client.awaitConnected(Duration.ofSeconds(60))).isTrue();
            long before = comings(proxy);
            InterProcessMutex mutex = new InterProcessMutex(client, "/required");
            List<CompletableFuture<Lease>> waiting =
                    Stream.generate(mutex::acquireAsync).limit(20).toList();
            waiting.forEach(RequiredAuthenticationIT::assertRefused);
            Soon.await().until(() -> client.connectionState() == ConnectionState.AUTH_FAILED);
            assertThat(comings(proxy) - before)
                    .as("connections for all of them")
                    .isLessThan(waiting.size() / 2);
            assertRefused(mutex.acquireAsync()); // in the next session
        }
    }

    /**
     * Each of them, also those that go down with the connection on which one was refused. The proxy lets none of them
     * pass before all are under way: one that comes later finds no connection, and is told to come again.
     */
    @ParameterizedTest
    @ValueSource(strings = {SASL, ENFORCED})
    @Tag("H151")
    void requestsUnderWay_allHearWhy(String settings) throws Exception {
        ExecutorService callers = Executors.newFixedThreadPool(20);
        try (ServerJvm server = new ServerJvm(settings.split(" "));
                FaultProxy proxy = FaultProxy.to("127.0.0.1", server.port())) {
            // The first request is one of these. It is lost with all others, as if nobody had read its refusal.
            List<Fault> losses = List.of(
                    proxy.dropRequest(RequestType.GET_CHILDREN2, 1), proxy.dropRequest(RequestType.MULTI_READ, 1));
            try (ZooKeeperClient client = builder(proxy).build()) {
                assertThat(client.awaitConnected(Duration.ofSeconds(60))).isTrue();
                proxy.pauseRequests();
                Queue<Thread> asking = new ConcurrentLinkedQueue<>();
                List<Future<Throwable>> heard = new ArrayList<>();
                for (int i = 0; i < 20; i++) {
                    InterProcessMutex mutex = new InterProcessMutex(client, "/required/" + i);
                    boolean reads = i % 2 == 0;
                    heard.add(callers.submit(() -> {
                        asking.add(Thread.currentThread());
                        return catchThrowable(reads ? mutex::participants : mutex::tryAcquire);
                    }));
                }
                Soon.await()
                        .until(() -> asking.size() == 20
                                && asking.stream().allMatch(each -> each.getState() == Thread.State.TIMED_WAITING));
                proxy.resume();
                for (Future<Throwable> each : heard) {
                    assertThat(each.get()).isInstanceOf(LockAccessException.class);
                }
            }
            assertThat(losses).anyMatch(Fault::hasFired);
        } finally {
            callers.shutdownNow();
        }
    }

    @Test
    void givenAuthentication_isEnough() throws Exception {
        try (ServerJvm server = new ServerJvm(ENFORCED.split(" "));
                FaultProxy proxy = FaultProxy.to("127.0.0.1", server.port());
                ZooKeeperClient client = builder(proxy)
                        .auth("digest", "user:password".getBytes(StandardCharsets.UTF_8))
                        .build()) {
            new InterProcessMutex(client, "/required").acquire().close();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void handleOfTheApplication_isLeftAlone(boolean supplied) throws Exception {
        try (ServerJvm server = new ServerJvm(ENFORCED.split(" "));
                FaultProxy proxy = FaultProxy.to("127.0.0.1", server.port());
                ZooKeeper handle = new ZooKeeper(proxy.connectString(), 30_000, event -> {});
                ZooKeeperClient client = supplied ? ZooKeeperClient.over(() -> handle) : ZooKeeperClient.wrap(handle)) {
            InterProcessMutex mutex = new InterProcessMutex(client, "/required");
            assertRefused(mutex.acquireAsync());
            assertRefused(mutex.acquireAsync());
            assertThat(handle.getState().isAlive()).isTrue();
        }
    }
}
