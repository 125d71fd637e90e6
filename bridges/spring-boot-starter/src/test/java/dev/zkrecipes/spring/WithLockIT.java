// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import java.lang.reflect.Method;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionSynchronizationUtils;
import org.springframework.transaction.support.TransactionTemplate;

/** What a method with {@link WithLock} may rely on. */
class WithLockIT extends ApplicationStage {
    private final CountDownLatch mayEnd = new CountDownLatch(1);
    private Orders orders;

    WithLockIT(EmbeddedZooKeeper server) {
        super(server);
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(ZkRecipesAutoConfiguration.class)
    // one before the default: an advisor without an order of its own would come later
    @EnableAsync(proxyTargetClass = true)
    @EnableTransactionManagement(proxyTargetClass = true, order = Ordered.LOWEST_PRECEDENCE - 1)
    static class Application {
        @Bean
        Orders orders() {
            return new Orders();
        }

        @Bean
        Database database(EmbeddedZooKeeper server) {
            return new Database(server);
        }
    }

    /** Runs what a test gives it. */
    static class Orders {
        @WithLock("/orders/{#id}")
        @Nullable
        Object ship(@Nullable Object id, Callable<?> work) throws Exception {
            return work.call();
        }

        @WithLock(value = "/orders/{#id}", waitAtMost = "1s", ifBusy = WithLock.IfBusy.SKIP)
        Optional<String> shipUnlessBusy(String id) {
            return Optional.of("shipped " + id);
        }

        @WithLock(value = "/orders/{#id}", waitAtMost = "0s", ifBusy = WithLock.IfBusy.SKIP)
        @Nullable
        String shipNow(String id) {
            return "shipped " + id;
        }

        @WithLock("/orders/{#id}")
        int count(String id) {
            return 1;
        }

        @WithLock(value = "/orders/{#id}", waitAtMost = "1s")
        int countSoon(String id) {
            return 1;
        }

        @WithLock(value = "/orders/{#id}", holdAtMost = "300ms")
        void shipInTime(String id, Consumer<Lease> work, @Nullable Lease lease) {
            work.accept(Objects.requireNonNull(lease));
        }

        @WithLock(value = "/stock/{#id}", mode = WithLock.Mode.READ, waitAtMost = "0s")
        @Nullable
        Object look(String id, Callable<?> work) throws Exception {
            return work.call();
        }

        @WithLock(value = "/stock/{#id}", mode = WithLock.Mode.WRITE, waitAtMost = "0s")
        @Nullable
        Object change(String id, Callable<?> work) throws Exception {
            return work.call();
        }

        @Transactional
        @WithLock("/orders/{#id}")
        void pay(String id) {}

        @Async
        @WithLock("/orders/{#id}")
        void shipLater(String id, Runnable work) {
            work.run();
        }

        @Transactional(propagation = Propagation.REQUIRES_NEW)
        @WithLock("/orders/{#id}")
        void payAlone(String id) {}

        @Transactional
        @WithLock("/orders/{#id}")
        void payAnd(String id, Runnable more) {
            more.run();
        }
    }

    /** Notes how many nodes the lock of order 7 has when a transaction begins and ends. */
    static final class Database extends AbstractPlatformTransactionManager {
        private static final long serialVersionUID = 1L;
        private final transient EmbeddedZooKeeper server;
        private final transient List<String> log = new ArrayList<>();
        private boolean isActive;
        /** A container has the transaction, and tells of its end when and where it likes. */
        private transient @Nullable List<TransactionSynchronization> toldByTheContainer;

        Database(EmbeddedZooKeeper server) {
            this.server = server;
        }

        private void note(String what) {
            log.add(what + ", "
                    + (server.nodeExists("/orders/7")
                            ? server.children("/orders/7").size()
                            : 0));
        }

        @Override
        protected Object doGetTransaction() {
            return this;
        }

        @Override
        protected boolean isExistingTransaction(Object transaction) {
            return isActive;
        }

        @Override
        protected void doSetRollbackOnly(DefaultTransactionStatus status) {}

        @Override
        protected void doCleanupAfterCompletion(Object transaction) {
            isActive = false;
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {
            isActive = true;
            note("begin");
        }

        @Override
        protected void doCommit(DefaultTransactionStatus status) {
            note("commit");
        }

        @Override
        protected Object doSuspend(Object transaction) {
            isActive = false;
            return this;
        }

        @Override
        protected void doResume(Object transaction, Object suspended) {
            isActive = true;
        }

        @Override
        protected void registerAfterCompletionWithExistingTransaction(
                Object transaction, List<TransactionSynchronization> synchronizations) {
            toldByTheContainer = synchronizations;
        }

        @Override
        protected void doRollback(DefaultTransactionStatus status) {
            note("rollback");
        }
    }

    @BeforeEach
    void start() throws Exception {
        start(Application.class, Map.of("zkrecipes.wait-at-most", "1h"));
        orders = context.getBean(Orders.class);
        assertThat(context.getBean(ZooKeeperClient.class).awaitConnected(LIMIT)).isTrue();
    }

    @AfterEach
    void letMethodsEnd() {
        mayEnd.countDown();
    }

    private List<String> nodes(String path) {
        return server.nodeExists(path) ? server.children(path) : List.of();
    }

    @Test
    void method_runsUnderItsLock_andReentersIt() throws Exception {
        Object result = orders.ship(7, () -> {
            assertThat(nodes("/orders/7")).hasSize(1);
            assertThat(new InterProcessMutex(other, "/orders/7").tryAcquire()).isEmpty();
            try (Lease lease = new InterProcessMutex(context.getBean(ZooKeeperClient.class), "/orders/7").acquire()) {
                assertThat(lease.fencingToken()).isPositive();
            }
            return orders.ship("7", () -> "twice");
        });
        assertThat(result).isEqualTo("twice");
        assertThat(nodes("/orders/7")).isEmpty();
    }

    @Test
    void readers_workTogether_andWriterAlone() throws Exception {
        CompletableFuture<Object> begun = new CompletableFuture<>();
        CompletableFuture<Object> reads = inBackground(() -> orders.look("7", () -> {
            begun.complete("begun");
            mayEnd.await();
            return "looked";
        }));
        Soon.get(begun);
        assertThat(orders.look("7", () -> "looked, too")).isEqualTo("looked, too");
        assertThatThrownBy(() -> orders.change("7", () -> "never")).isInstanceOf(LockNotAcquiredException.class);
        mayEnd.countDown();
        assertThat(Soon.get(reads)).isEqualTo("looked");
        assertThat(orders.change("7", () -> orders.look("7", () -> "as a reader of what it writes")))
                .isEqualTo("as a reader of what it writes");
        assertThatThrownBy(() -> orders.look("7", () -> orders.change("7", () -> "never")))
                .isInstanceOf(LockRefusedException.class);
    }

    @Test
    void lockThatIsHeldForTooLong_isLost_whileTheMethodWorks() {
        assertThatThrownBy(() -> orders.shipInTime(
                        "7",
                        lease -> {
                            assertThat(lease.path()).isEqualTo("/orders/7");
                            Soon.await().until(() -> lease.state() == LeaseState.LOST);
                            Soon.await().until(() -> nodes("/orders/7").isEmpty());
                        },
                        null))
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining("/orders/7 was lost while Orders.shipInTime ran");
    }

    @Test
    void whatTheMethodThrows_comesOut_andTheLockIsReleased() {
        IllegalStateException failure = new IllegalStateException("out of stock");
        assertThatThrownBy(() -> orders.ship(7, () -> {
                    throw failure;
                }))
                .isSameAs(failure);
        assertThat(nodes("/orders/7")).isEmpty();
    }

    @Test
    void busyLock_failsOrSkipsTheCall() throws Exception {
        try (Lease lease = new InterProcessMutex(other, "/orders/7").acquire()) {
            assertThatThrownBy(() -> unlessUnanswered().until(() -> orders.countSoon("7") == 0))
                    .isInstanceOf(LockNotAcquiredException.class)
                    .hasMessage("the lock /orders/7 is held by " + other.ownerLabel()
                            + ", and Orders.countSoon was not run");
            assertThat(unlessUnanswered().until(() -> orders.shipUnlessBusy("7"), answer -> true))
                    .isEmpty();
            assertThat(orders.shipNow("7")).isNull();
            Soon.await().until(lease::isValid);
        }
        // A call that was not answered in its second may leave its node behind for a moment.
        Soon.await().ignoreExceptionsInstanceOf(LockException.class).until(() -> orders.countSoon("7") == 1);
        unlessUnanswered().until(() -> orders.shipUnlessBusy("7").equals(Optional.of("shipped 7")));
        Soon.await().until(() -> "shipped 7".equals(orders.shipNow("7")));
    }

    /** A call that waits for a second fails if ZooKeeper does not answer in that time: then it is made again. */
    private static ConditionFactory unlessUnanswered() {
        return Soon.await().ignoreExceptionsInstanceOf(LockConnectionException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/", "7/8", "7/..", "../customers/7", "..", ".", "7\n"})
    void value_thatWouldLeadToAnotherPath_failsTheCall(String id) {
        assertThatThrownBy(() -> orders.ship(id, () -> "never")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void value_withoutATextOfItsOwn_failsTheCall() {
        assertThatThrownBy(() -> orders.ship(null, () -> "never"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("@WithLock of Orders.ship: {#id}: it is null");
        assertThatThrownBy(() -> orders.ship(new Object(), () -> "never"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("java.lang.Object");
    }

    @Test
    void lostLock_isToldInPlaceOfTheResult() {
        ZooKeeperClient client = context.getBean(ZooKeeperClient.class);
        assertThatThrownBy(() -> orders.ship(7, () -> {
                    assertThat(server.expireSession(
                                    client.zooKeeper().orElseThrow().getSessionId()))
                            .isTrue();
                    InterProcessMutex mutex = new InterProcessMutex(client, "/orders/7");
                    Soon.await().until(() -> !mutex.isAcquiredInThisProcess());
                    return "shipped";
                }))
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining("/orders/7 was lost while Orders.ship ran");
        unlessUnanswered().until(() -> orders.shipUnlessBusy("7").equals(Optional.of("shipped 7")));
    }

    @Test
    void interruptedWaiter_keepsTheFlag_andIsTold() throws Exception {
        try (Lease lease = new InterProcessMutex(other, "/orders/7").acquire()) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> orders.ship(7, () -> "never"))
                    .isInstanceOf(LockNotAcquiredException.class)
                    .hasMessageContaining("interrupted");
            assertThat(Thread.interrupted()).isTrue();
            Soon.await().until(lease::isValid);
        }
    }

    @Test
    void lock_isAcquiredBeforeTheTransaction_andReleasedAfterTheCommit() {
        orders.pay("7");
        assertThat(context.getBean(Database.class).log).containsExactly("begin, 1", "commit, 1");
        assertThat(nodes("/orders/7")).isEmpty();
    }

    @Test
    void lockOfACallWithinATransaction_isReleasedAfterIt() {
        TransactionTemplate transaction = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
        transaction.executeWithoutResult(status -> {
            orders.count("7");
            assertThat(nodes("/orders/7")).hasSize(1);
            orders.pay("7");
            status.setRollbackOnly();
        });
        assertThat(context.getBean(Database.class).log).containsExactly("begin, 0", "rollback, 1");
        assertThat(nodes("/orders/7")).isEmpty();
    }

    private void expireSession() {
        ZooKeeperClient client = context.getBean(ZooKeeperClient.class);
        InterProcessMutex mutex = new InterProcessMutex(client, "/orders/7");
        assertThat(server.expireSession(client.zooKeeper().orElseThrow().getSessionId()))
                .isTrue();
        Soon.await().until(() -> !mutex.isAcquiredInThisProcess());
    }

    /** What a listener does, or a query that is flushed: the method has returned, and nothing is committed yet. */
    private static void beforeTheCommit(Runnable work) {
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void beforeCompletion() {
                work.run();
            }
        });
    }

    @Test
    @Tag("H135")
    void lockLostBetweenTheReturnAndTheCommit_rollsBack_andIsTold() {
        assertThatThrownBy(() -> orders.payAnd("7", () -> beforeTheCommit(this::expireSession)))
                .isInstanceOf(LockLostException.class)
                .hasMessage(
                        "the lock /orders/7 of Orders.payAnd was lost before the transaction was committed, so it is"
                                + " rolled back");
        assertThat(context.getBean(Database.class).log).containsExactly("begin, 1", "rollback, 0");
    }

    @Test
    @Tag("H135")
    void lockOfACallWithinATransaction_lostBeforeTheCommit_rollsBack_andIsTold() {
        TransactionTemplate transaction = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
        assertThatThrownBy(() -> transaction.executeWithoutResult(status -> {
                    orders.count("7");
                    expireSession();
                }))
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining("the lock /orders/7 of Orders.count was lost before the transaction");
        assertThat(context.getBean(Database.class).log).containsExactly("begin, 0", "rollback, 0");
    }

    /** What other synchronizations do before the commit may take long, and may call methods with locks. */
    @Test
    @Tag("H135")
    void lockOfACallWithinATransaction_lostWhileOthersPrepareTheCommit_rollsBack_andIsTold() {
        TransactionTemplate transaction = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
        assertThatThrownBy(() -> transaction.executeWithoutResult(status -> {
                    orders.count("7");
                    beforeTheCommit(this::expireSession);
                }))
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining("the lock /orders/7 of Orders.count was lost before the transaction");
        assertThat(context.getBean(Database.class).log).containsExactly("begin, 0", "rollback, 0");
    }

    @Test
    @Tag("H132")
    void transactionThatEndsOnAnotherThread_releasesTheLock() throws Exception {
        Database container = context.getBean(Database.class);
        container.isActive = true;
        new TransactionTemplate(container).executeWithoutResult(status -> {
            orders.count("7");
            orders.pay("7");
        });
        assertThat(nodes("/orders/7"))
                .as("the container's transaction is under way")
                .hasSize(1);
        assertThat(orders.count("7")).as("the thread re-enters").isEqualTo(1);
        Thread reaper = new Thread(() -> TransactionSynchronizationUtils.invokeAfterCompletion(
                container.toldByTheContainer, TransactionSynchronization.STATUS_ROLLED_BACK));
        reaper.start();
        reaper.join();
        assertThat(nodes("/orders/7")).isEmpty();
    }

    /** Returns when it has begun. */
    private CompletableFuture<Object> workUntilItMayEnd() {
        CompletableFuture<Void> begun = new CompletableFuture<>();
        CompletableFuture<Object> works = inBackground(() -> orders.ship(7, () -> {
            begun.complete(null);
            mayEnd.await();
            return "shipped";
        }));
        Soon.get(begun);
        return works;
    }

    /** The client closes, and still waits for methods. */
    private void awaitRefusalToBegin() {
        Soon.await().until(() -> {
            try {
                return orders.count("8") == 0;
            } catch (ClientClosedException closing) {
                return true;
            } catch (LockNotAcquiredException stopping) {
                return false; // it waits no longer, and takes a lock that was just released for busy
            }
        });
        assertThat(nodes("/orders/8")).isEmpty();
    }

    /** For long enough that a close which does not wait would have shown. */
    private static void assertStays(Callable<Boolean> state) {
        Soon.await().during(Duration.ofMillis(300)).until(state);
    }

    @Test
    void closingClient_waitsForMethods_andLetsNoneBegin() {
        ZooKeeperClient client = context.getBean(ZooKeeperClient.class);
        CompletableFuture<Object> works = workUntilItMayEnd();
        CompletableFuture<Object> waits = inBackground(() -> orders.ship(7, () -> "never"));
        Soon.await().until(() -> nodes("/orders/7").size() == 2);
        CompletableFuture<Object> closed = inBackground(() -> {
            client.close();
            return client.connectionState();
        });
        awaitRefusalToBegin();
        assertStays(() -> nodes("/orders/7").size() == 2 && !closed.isDone());
        mayEnd.countDown();
        assertThat(Soon.get(works)).isEqualTo("shipped");
        assertThat(Soon.get(waits)).isInstanceOf(ClientClosedException.class);
        assertThat(Soon.get(closed)).isEqualTo(ConnectionState.CLOSED);
    }

    @Test
    void methodThatClosesTheClient_isNotWaitedFor_andHasLostItsLock() {
        assertThatThrownBy(() -> orders.ship(7, () -> {
                    context.close();
                    return "shipped";
                }))
                .isInstanceOf(LockLostException.class);
        assertThat(nodes("/orders/7")).isEmpty();
    }

    @Test
    void closingContext_waitsForMethods() {
        CompletableFuture<Object> works = workUntilItMayEnd();
        CompletableFuture<Object> closed = inBackground(() -> {
            context.close();
            return "closed";
        });
        awaitRefusalToBegin();
        assertStays(() -> nodes("/orders/7").size() == 1 && !closed.isDone());
        mayEnd.countDown();
        assertThat(Soon.get(works)).isEqualTo("shipped");
        assertThat(Soon.get(closed)).isEqualTo("closed");
        assertThat(nodes("/orders/7")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"client", "context", "session"})
    void registryLock_isGivenBackAtOnce_whateverEnds_andUnlockSaysThatItWasLost(String ends) {
        Lock lock = context.getBean(LockRegistry.class).obtain("key");
        ZooKeeperClient client = context.getBean(ZooKeeperClient.class);
        lock.lock();
        assertThat(nodes("/locks/integration/key")).hasSize(1);
        switch (ends) {
            case "client" -> client.close();
            case "context" -> context.close();
            default -> server.expireSession(client.zooKeeper().orElseThrow().getSessionId());
        }
        Soon.await().until(() -> nodes("/locks/integration/key").isEmpty());
        if (ends.equals("session")) { // of which the client hears a moment later
            InterProcessMutex held = new InterProcessMutex(client, "/locks/integration/key");
            Soon.await().until(() -> !held.isAcquiredInThisProcess());
        }
        assertThatThrownBy(lock::unlock).isInstanceOf(LockLostException.class);
    }

    /** Threads of the client inherit nothing of whoever starts the application, calls a method or uses the registry. */
    @Test
    @Tag("H131")
    void noThreadInherits() throws Exception {
        List<Thread> parents = new CopyOnWriteArrayList<>();
        InheritableThreadLocal<String> inheritable = new InheritableThreadLocal<>() {
            @Override
            protected String childValue(String value) {
                parents.add(Thread.currentThread());
                return value;
            }
        };
        closeContextAndClient();
        inheritable.set("value");
        try {
            start();
            orders.ship("7", () -> {
                orders.pay("7");
                return orders.shipNow("7");
            });
            context.getBean(LockRegistry.class).executeLocked("key", () -> {});
            assertThat(parents).isEmpty();
        } finally {
            inheritable.remove();
        }
    }

    @Test
    @Tag("H133")
    void registryKey_withoutATextOfItsOwn_isRefused() {
        LockRegistry registry = context.getBean(LockRegistry.class);
        assertThatThrownBy(() -> registry.obtain(new Date()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a java.util.Date cannot name a lock");
        assertThatThrownBy(() -> registry.obtain("\uD800")).isInstanceOf(IllegalArgumentException.class);
    }

    private static boolean isBoot4() {
        return System.getProperty("boot.version").startsWith("4");
    }

    /** What a lock has from Spring Integration 7 on. */
    @Test
    void registryLock_withATimeToLive_isLostAfterIt() throws Throwable {
        Lock lock = context.getBean(LockRegistry.class).obtain("key");
        Optional<Class<?>> known = Stream.of(lock.getClass().getInterfaces())
                .filter(type -> type.getSimpleName().equals("DistributedLock"))
                .findFirst();
        assertThat(known.isPresent()).as("with Spring Integration 7").isEqualTo(isBoot4());
        if (known.isEmpty()) {
            return;
        }
        Class<?> distributed = known.get();
        distributed.getMethod("lock", Duration.class).invoke(lock, Duration.ofMillis(300));
        Soon.await().until(() -> nodes("/locks/integration/key").isEmpty());
        assertThatThrownBy(lock::unlock).isInstanceOf(LockLostException.class);
        Lock theirs = new InterProcessMutex(other, "/locks/integration/key").asLock();
        theirs.lock();
        Method tryLock = distributed.getMethod("tryLock", Duration.class, Duration.class);
        assertThat(tryLock.invoke(lock, Duration.ZERO, Duration.ofHours(1))).isEqualTo(false);
        theirs.unlock();
        assertThat(tryLock.invoke(lock, ChronoUnit.FOREVER.getDuration(), Duration.ofHours(1)))
                .isEqualTo(true);
        lock.unlock();
        assertThat(lock.tryLock()).isTrue();
        lock.unlock();
    }

    /** As users of Spring Integration's other registries expect, where a lock ends unless it is renewed. */
    @Test
    void renewLock_ofTheRegistry_isRefused_unlessThisThreadHoldsTheLock() throws Exception {
        RenewableLockRegistry registry = context.getBean(RenewableLockRegistry.class);
        Lock lock = registry.obtain("key");
        assertThatThrownBy(() -> registry.renewLock("key"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("this thread does not hold the lock /locks/integration/key");
        lock.lock();
        registry.renewLock("key");
        assertThat(nodes("/locks/integration/key")).hasSize(1);
        assertThat(Soon.get(inBackground(() -> {
                    registry.renewLock("key");
                    return "renewed";
                })))
                .isInstanceOf(IllegalStateException.class);
        ZooKeeperClient client = context.getBean(ZooKeeperClient.class);
        try (Lease same = new InterProcessMutex(client, "/locks/integration/key").acquire()) {
            server.stop();
            Soon.await().until(() -> client.connectionState() == ConnectionState.SUSPENDED);
            assertThatThrownBy(() -> registry.renewLock("key"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("the connection is lost");
            server.restart();
            Soon.await().until(same::isValid);
            registry.renewLock("key");
        }
        lock.unlock();
        assertThat(nodes("/locks/integration/key")).isEmpty();
        assertThatThrownBy(() -> registry.renewLock("key")).isInstanceOf(IllegalStateException.class);
    }

    /** By the method that Spring Integration 7 has beside the one of 6. */
    @Test
    void renewLock_withATimeToLive_replacesThatOfTheLock() throws Throwable {
        RenewableLockRegistry registry = context.getBean(RenewableLockRegistry.class);
        Method renew = registry.getClass().getDeclaredMethod("renewLock", Object.class, Duration.class);
        renew.setAccessible(true);
        LockOptions limited = LockOptions.defaults().withHoldAtMost(Duration.ofHours(1));
        ZooKeeperClient client = context.getBean(ZooKeeperClient.class);
        Lock lock = new InterProcessMutex(client, "/locks/integration/key", limited).asLock();
        lock.lock();
        renew.invoke(registry, "key", Duration.ofHours(2));
        assertThat(nodes("/locks/integration/key")).hasSize(1);
        renew.invoke(registry, "key", Duration.ofMillis(300));
        Soon.await().until(() -> nodes("/locks/integration/key").isEmpty());
        assertThatThrownBy(() -> renew.invoke(registry, "key", Duration.ofHours(1)))
                .hasCauseInstanceOf(IllegalStateException.class);
        assertThatThrownBy(lock::unlock).isInstanceOf(LockLostException.class);
    }

    /** It is outside of the lock, as docs/spring.md says. */
    @Test
    void asyncMethod_acquiresItsLockOnTheThreadOfTheTask() throws Exception {
        CompletableFuture<Integer> nodes = new CompletableFuture<>();
        try (Lease lease = new InterProcessMutex(other, "/orders/7").acquire()) {
            orders.shipLater("7", () -> nodes.complete(nodes("/orders/7").size()));
            assertThat(nodes).isNotDone();
            Soon.await().until(lease::isValid);
        }
        assertThat(Soon.get(nodes)).isEqualTo(1);
    }

    /** Each call within the outer transaction keeps its lock until that is over, though its own is committed. */
    @Test
    void callsWithTransactionsOfTheirOwn_withinAnother_keepTheirLocks() {
        TransactionTemplate transaction = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
        transaction.executeWithoutResult(status -> {
            for (String id : List.of("7", "8", "9")) {
                orders.payAlone(id);
            }
            assertThat(List.of("7", "8", "9"))
                    .allMatch(id -> nodes("/orders/" + id).size() == 1);
        });
        assertThat(List.of("7", "8", "9")).allMatch(id -> nodes("/orders/" + id).isEmpty());
    }

    /** Runs this on a thread of its own; what it throws is the result. */
    private static CompletableFuture<Object> inBackground(Callable<?> work) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return Objects.requireNonNull(work.call());
                    } catch (Exception e) {
                        return e;
                    }
                },
                task -> new Thread(task).start());
    }

    @Test
    void stoppingApplication_endsItsWaits_andLetsWorkEnd() throws Exception {
        LockedCalls calls = context.getBean(LockedCalls.class);
        AtomicReference<@Nullable Throwable> seen = new AtomicReference<>();
        AtomicReference<@Nullable Boolean> interrupted = new AtomicReference<>();
        try (Lease lease = new InterProcessMutex(other, "/orders/7").acquire()) {
            Thread waiter = new Thread(() -> {
                try {
                    orders.ship(7, () -> "never");
                } catch (Throwable t) {
                    seen.set(t);
                    interrupted.set(Thread.currentThread().isInterrupted());
                }
            });
            waiter.start();
            Soon.await().until(() -> nodes("/orders/7").size() == 2);
            calls.stop();
            waiter.join();
            assertThat(seen.get())
                    .isInstanceOf(LockNotAcquiredException.class)
                    .hasMessageContaining("the application is stopping");
            assertThat(interrupted.get()).isFalse();
            assertThat(orders.ship(8, () -> "a free lock")).isEqualTo("a free lock");
            assertThatThrownBy(() -> orders.ship(7, () -> "never")).isInstanceOf(LockNotAcquiredException.class);
            Soon.await().until(lease::isValid);
        }
        calls.start();
        Lease lease = new InterProcessMutex(other, "/orders/7").acquireAsync().join();
        CompletableFuture<Object> waits = inBackground(() -> orders.ship(7, () -> "waited again"));
        Soon.await().until(() -> nodes("/orders/7").size() == 2);
        lease.close();
        assertThat(Soon.get(waits)).isEqualTo("waited again");
    }
}
