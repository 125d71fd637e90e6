// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockNames;
import dev.zkrecipes.curator.CuratorClients;
import dev.zkrecipes.leader.LeaderElection;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.spring.ElectionEvent;
import dev.zkrecipes.spring.LockNotAcquiredException;
import dev.zkrecipes.spring.WithLock;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.CuratorEventType;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.MapPropertySource;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionSynchronizationUtils;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** The code of {@code docs/spring.md} is the code of this test, in Spring and Spring Integration as they are. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@WithZooKeeper
class SpringDocIT {
    private static final Path PAGE = Path.of("../../docs/spring.md");
    private static final Path THIS = Path.of("src/test/java/dev/zkrecipes/it/examples/SpringDocIT.java");
    private static final Pattern JAVA = Pattern.compile("^```java\n((?s:.*?))^```$", Pattern.MULTILINE);

    @Configuration
    static class LockBeans {
        @Bean
        ZooKeeperClient zooKeeperClient(@Value("${zookeeper.connect}") String connect) {
            return ZooKeeperClient.connect(connect);
        }

        @Bean
        LockRegistry lockRegistry(ZooKeeperClient client) {
            return key -> new InterProcessMutex(client, "/locks/integration/" + LockNames.nodeOf(key)).asLock();
        }
    }

    @Configuration
    static class CustomizerBeans {
        @Bean
        Consumer<ZooKeeperClientBuilder> requests() {
            return builder -> builder.requestTimeout(Duration.ofSeconds(5));
        }
    }

    interface Warehouse {
        void ship(String id, long token);
    }

    /** Runs with the starter's own tests; here it compiles. */
    record Shop(Warehouse warehouse) {
        @WithLock(value = "/orders/{#id}", waitAtMost = "2s", holdAtMost = "10m")
        public void ship(String id, Lease lease) { // called as ship("4711", null)
            warehouse.ship(id, lease.fencingToken());
        }
    }

    @RestControllerAdvice
    static class Busy {
        @ExceptionHandler
        ProblemDetail later(LockNotAcquiredException busy) {
            return ProblemDetail.forStatusAndDetail(HttpStatus.LOCKED, "somebody else works on it: try again later");
        }
    }

    interface Reports {
        void start(long number);

        void stop();
    }

    record BillingListener(LeaderElection billingElection, Reports reports) {
        @EventListener
        void begin(ElectionEvent.TermBegan event) {
            reports.start(event.term().number());
        }

        @EventListener
        void end(ElectionEvent.TermEnded event) {
            reports.stop();
        }

        @EventListener
        void giveBack(ElectionEvent.GiveBackRequested event) {
            billingElection.resign();
        }
    }

    interface Billing {
        void next(long term) throws InterruptedException;
    }

    @Component
    record BillingLoop(LeaderElection billingElection, Billing billing) {
        @EventListener(ApplicationReadyEvent.class)
        void start() {
            new Thread(this::lead, "billing").start();
        }

        private void lead() {
            try {
                billingElection.run(term -> {
                    while (term.awaitValid(Duration.ofSeconds(30))) { // waits while the connection is lost
                        billing.next(term.number()); // interrupted when the term ends
                    }
                });
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Configuration
    static class CuratorBeans {
        @Bean(initMethod = "start")
        CuratorFramework curator(@Value("${zookeeper.connect}") String connect) {
            return CuratorFrameworkFactory.newClient(connect, new ExponentialBackoffRetry(100, 3));
        }

        @Bean
        ZooKeeperClient zooKeeperClient(CuratorFramework curator) {
            return CuratorClients.over(curator);
        }
    }

    @Configuration
    static class WorkerBeans {
        @Bean
        InterProcessMutex ordersLock(ZooKeeperClient client) {
            return new InterProcessMutex(client, "/locks/orders");
        }

        @Bean
        Worker worker(InterProcessMutex ordersLock) {
            return new Worker(ordersLock);
        }
    }

    /** What an application has: it works under the lock until Spring stops it. */
    static final class Worker implements DisposableBean {
        private final Lease lease;
        private final List<String> end = new ArrayList<>();

        Worker(InterProcessMutex lock) {
            this.lease = lock.acquireAsync().join();
        }

        @Override
        public void destroy() {
            end.add(lease.isValid() ? "under the lock" : "without it");
            lease.close();
        }
    }

    static void updateUnderTheLock(InterProcessMutex lock, Runnable update) throws InterruptedException {
        Lease lease = lock.acquire();
        try {
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void beforeCommit(boolean readOnly) {
                    if (lease.state() == LeaseState.LOST) {
                        throw new IllegalStateException("the lock is lost: roll back");
                    }
                }

                @Override
                public void afterCompletion(int status) { // on any thread
                    lease.close();
                }
            });
            LockInternals.letAnyThreadClose(lease);
        } catch (IllegalStateException noTransaction) {
            lease.close();
            throw noTransaction;
        }
        update.run();
    }

    @Test
    void leaseIsClosed_whenTheTransactionIsOver(EmbeddedZooKeeper server) throws Exception {
        try (var context = start(server, LockBeans.class)) {
            InterProcessMutex lock = new InterProcessMutex(context.getBean(ZooKeeperClient.class), "/locks/orders");
            assertThatThrownBy(() -> updateUnderTheLock(lock, () -> {})).isInstanceOf(IllegalStateException.class);
            assertThat(lock.holdCount()).isZero();
            TransactionSynchronizationManager.initSynchronization();
            try {
                updateUnderTheLock(lock, () -> {});
                assertThat(lock.holdCount()).isEqualTo(1);
                TransactionSynchronizationUtils.triggerBeforeCommit(false);
                List<TransactionSynchronization> all = TransactionSynchronizationManager.getSynchronizations();
                CompletableFuture.runAsync(() -> TransactionSynchronizationUtils.invokeAfterCompletion(
                                all, TransactionSynchronization.STATUS_ROLLED_BACK))
                        .join();
                assertThat(lock.holdCount()).isZero();
            } finally {
                TransactionSynchronizationManager.clearSynchronization();
            }
        }
    }

    private static AnnotationConfigApplicationContext start(EmbeddedZooKeeper server, Class<?>... beans) {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        context.getEnvironment()
                .getPropertySources()
                .addFirst(new MapPropertySource("test", Map.of("zookeeper.connect", server.connectString())));
        context.register(beans);
        context.refresh();
        return context;
    }

    @Test
    void everyJavaBlock_isCodeOfThisTest() throws IOException {
        List<MatchResult> blocks =
                JAVA.matcher(Files.readString(PAGE)).results().toList();
        String source = Files.readString(THIS).replaceAll("\\s+", "");
        assertThat(blocks)
                .hasSize(8)
                .allSatisfy(
                        block -> assertThat(source).contains(block.group(1).replaceAll("(?m)^import .*$|\\s+", "")));
    }

    @Test
    void loop_worksWhileItLeads_untilTheElectionEnds(EmbeddedZooKeeper server) {
        CompletableFuture<Long> term = new CompletableFuture<>();
        CompletableFuture<Thread> ended = new CompletableFuture<>();
        try (ZooKeeperClient client = ZooKeeperClient.connect(server.connectString());
                LeaderElection election = new LeaderElection(client, "/leaders/billing")) {
            election.join(); // as the starter does
            new BillingLoop(election, number -> {
                        term.complete(number);
                        try {
                            new CompletableFuture<>().get();
                        } catch (ExecutionException e) {
                            throw new AssertionError(e);
                        } finally {
                            ended.complete(Thread.currentThread());
                        }
                    })
                    .start();
            assertThat(term).succeedsWithin(Duration.ofSeconds(120));
            assertThat(ended).isNotDone();
        }
        assertThat(ended).isCompleted();
        assertThat(server.children("/leaders/billing")).isEmpty();
    }

    @Test
    void beansUsingALock_stopBeforeTheClientCloses(EmbeddedZooKeeper server) {
        Worker worker;
        ZooKeeperClient client;
        try (var context = start(server, LockBeans.class, WorkerBeans.class)) {
            worker = context.getBean(Worker.class);
            client = context.getBean(ZooKeeperClient.class);
            Soon.await().until(worker.lease::isValid);
        }
        assertThat(worker.end).containsExactly("under the lock");
        assertThat(client.connectionState()).isEqualTo(ConnectionState.CLOSED);
        assertThat(server.children("/locks/orders")).isEmpty();
    }

    @Test
    void registry_givesOneLockForEachKey_toAllProcesses(EmbeddedZooKeeper server) throws Exception {
        try (var here = start(server, LockBeans.class);
                var there = start(server, LockBeans.class)) {
            LockRegistry ours = here.getBean(LockRegistry.class);
            LockRegistry theirs = there.getBean(LockRegistry.class);
            for (ZooKeeperClient client :
                    List.of(here.getBean(ZooKeeperClient.class), there.getBean(ZooKeeperClient.class))) {
                assertThat(client.awaitConnected(Duration.ofSeconds(120))).isTrue();
            }
            Lock lock = ours.obtain("group/7 ä");
            lock.lock();
            assertThat(theirs.obtain("group/7 ä").tryLock()).isFalse();
            assertThat(ours.obtain("group/7 ä").tryLock())
                    .as("re-entrant, through another object")
                    .isTrue();
            ours.obtain("group/7 ä").unlock();
            CompletableFuture<Boolean> done = CompletableFuture.supplyAsync(
                    () -> {
                        try {
                            theirs.executeLocked("group/7 ä", () -> {});
                            return true;
                        } catch (InterruptedException e) {
                            return false;
                        }
                    },
                    task -> new Thread(task).start());
            theirs.executeLocked("another", () -> assertThat(done).isNotDone());
            lock.unlock();
            assertThat(done).succeedsWithin(Duration.ofSeconds(120)).isEqualTo(true);
        }
    }

    @Test
    void clientOnAFrameworkBean_isClosedFirst(EmbeddedZooKeeper server) {
        List<ConnectionState> whenClosing = new CopyOnWriteArrayList<>();
        CuratorFramework curator;
        ZooKeeperClient client;
        try (var context = start(server, CuratorBeans.class)) {
            curator = context.getBean(CuratorFramework.class);
            client = context.getBean(ZooKeeperClient.class);
            curator.getCuratorListenable().addListener((framework, event) -> {
                if (event.getType() == CuratorEventType.CLOSING) {
                    whenClosing.add(client.connectionState());
                }
            });
        }
        assertThat(whenClosing).containsExactly(ConnectionState.CLOSED);
        assertThat(curator.getState()).isEqualTo(CuratorFrameworkState.STOPPED);
    }
}
