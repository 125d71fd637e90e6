// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.InstanceOfAssertFactories.THROWABLE;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockObserver;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockExtender;
import net.javacrumbs.shedlock.core.LockingTaskExecutor;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.LockException;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What ShedLock's own tests do not ask. */
class ZooKeeperLockProviderIT extends ServerStage {
    private static final Duration LONG = Duration.ofMinutes(10);
    private ZooKeeperClient client;
    private ZooKeeperClient other;

    @BeforeEach
    void connect() throws InterruptedException {
        client = client();
        other = client();
    }

    private static ZooKeeperLockProvider on(ZooKeeperClient used) {
        return new ZooKeeperLockProvider(used, "/jobs");
    }

    private static LockConfiguration job(String name, Duration most, Duration least) {
        return new LockConfiguration(Instant.now(), name, most, least);
    }

    private SimpleLock lock(String name, Duration most, Duration least) {
        return on(client).lock(job(name, most, least)).orElseThrow();
    }

    /** Empty also if ZooKeeper has not answered in a second, if that is all for which the provider waits. */
    private Optional<SimpleLock> lockIfAnswered(LockConfiguration job) {
        try {
            return on(client).lock(job);
        } catch (LockException e) {
            assertThat(e).hasCauseInstanceOf(LockConnectionException.class);
            return Optional.empty();
        }
    }

    private boolean isFree(String name) {
        Optional<SimpleLock> lock = on(other).lock(job(name, LONG, Duration.ZERO));
        lock.ifPresent(SimpleLock::unlock);
        return lock.isPresent();
    }

    @Test
    void eachJob_hasMetersOfItsOwn_unlessTheOptionsNameAll() throws InterruptedException {
        List<String> names = new CopyOnWriteArrayList<>();
        ZooKeeperClient watched = client(settings().observer(request -> {
            names.add(request.name().orElse("none"));
            return new LockObserver.Progress() {};
        }));
        on(watched)
                .lock(job("nightly report", LONG, Duration.ZERO))
                .orElseThrow()
                .unlock();
        LockOptions jobs = LockOptions.defaults().withName("jobs");
        ZooKeeperLockProvider named = new ZooKeeperLockProvider(watched, "/jobs", jobs);
        named.lock(job("nightly report", LONG, Duration.ZERO)).orElseThrow().unlock();
        assertThat(names).containsExactly("nightly_report", "jobs");
    }

    @Test
    void jobThatHangs_losesTheLock_andEndsWithoutAnError() {
        SimpleLock hanging = lock("hangs", Duration.ofMillis(300), Duration.ZERO);
        Soon.await().until(() -> isFree("hangs"));
        hanging.unlock();
        SimpleLock again = lock("hangs", Duration.ofMillis(1), Duration.ZERO);
        Soon.await().until(() -> isFree("hangs"));
        assertThat(again.extend(LONG, Duration.ZERO)).isEmpty();
    }

    /** ShedLock unlocks whatever the job has locked, also if that could not be extended. */
    @Test
    @Tag("H246")
    void jobThatCannotExtendItsLostLock_isToldSo_andEndsWithoutAnError() {
        LockingTaskExecutor executor = new DefaultLockingTaskExecutor(on(client));
        List<Throwable> told = new ArrayList<>();
        Runnable tooLong = () -> {
            Soon.await().until(() -> isFree("too long"));
            told.add(catchThrowable(() -> LockExtender.extendActiveLock(LONG, Duration.ZERO)));
        };
        executor.executeWithLock(tooLong, job("too long", Duration.ofMillis(300), Duration.ZERO));
        assertThat(told).singleElement(THROWABLE).isInstanceOf(LockExtender.LockCanNotBeExtendedException.class);
    }

    /** ShedLock allows that: it is the time up to a moment that has passed. */
    @Test
    @Tag("H247")
    void negativeLeastTime_isNone() {
        lock("short", LONG, Duration.ofSeconds(-1)).unlock();
        assertThat(isFree("short")).isTrue();
    }

    @Test
    void lostSession_losesTheLock() throws Exception {
        SimpleLock lost = lock("cut", LONG, LONG.dividedBy(2));
        SimpleLock extended = lock("cut too", LONG, Duration.ZERO);
        ZooKeeper handle = client.zooKeeper().orElseThrow();
        assertThat(server.expireSession(handle.getSessionId())).isTrue();
        Soon.await().until(() -> isFree("cut") && isFree("cut too"));
        Soon.await()
                .until(() -> client.zooKeeper().filter(next -> next != handle).isPresent());
        lost.unlock();
        assertThat(extended.extend(LONG, Duration.ZERO)).isEmpty();
        assertThat(on(client).lock(job("cut", LONG, LONG))).isPresent();
    }

    @Test
    void extendedLock_isKeptForItsNewTimes() {
        SimpleLock lock = lock("long", LONG, LONG.dividedBy(2));
        Duration least = Duration.ofMillis(300);
        long before = System.nanoTime();
        lock.extend(LONG, least).orElseThrow().unlock();
        Soon.await().until(() -> isFree("long"));
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThanOrEqualTo(least);
    }

    @Test
    void lockIsKept_fromTheCallOn_andThenGivenBack() {
        Duration least = Duration.ofMillis(300);
        Optional<SimpleLock> lock = Optional.empty();
        long before = 0;
        while (lock.isEmpty()) {
            before = System.nanoTime();
            lock = lockIfAnswered(job("kept for a while", LONG, least));
        }
        lock.get().unlock();
        Soon.await().until(() -> isFree("kept for a while"));
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThanOrEqualTo(least);
    }

    @Test
    void closedClient_givesBackWhatIsKept() {
        lock("kept", LONG, LONG).unlock();
        assertThat(isFree("kept")).isFalse();
        client.close();
        Soon.await().until(() -> isFree("kept"));
    }

    /** Has a client that waits for jobs until they end. */
    private ZooKeeperClient closesAfter(Duration time) throws InterruptedException {
        return TestClients.connect(settings().closeTimeout(time));
    }

    @Test
    void closingClient_waitsForTheJob_andLetsNoneBegin() throws InterruptedException {
        ZooKeeperClient patient = closesAfter(LONG);
        SimpleLock lock = on(patient).lock(job("works", LONG, LONG)).orElseThrow();
        CompletableFuture<Void> closed = CompletableFuture.runAsync(patient::close);
        Soon.await().until(() -> isRefused(patient));
        assertThat(isFree("works")).isFalse();
        Soon.await().until(() -> patient.connectionState() == ConnectionState.CONNECTED);
        assertThat(closed).isNotDone();
        lock.unlock();
        Soon.get(closed);
        assertThat(isFree("works"))
                .as("what is kept for a minimum time ends with the client")
                .isTrue();
    }

    private static boolean isRefused(ZooKeeperClient closing) {
        try {
            on(closing).lock(job("another", LONG, Duration.ZERO)).ifPresent(SimpleLock::unlock);
            return false;
        } catch (LockException e) {
            assertThat(e).hasCauseInstanceOf(ClientClosedException.class);
            return true;
        }
    }

    @Test
    void closingClient_waitsForItsTimeOutAtMost() throws InterruptedException {
        ZooKeeperClient hasty = closesAfter(Duration.ofMillis(1));
        SimpleLock lock = on(hasty).lock(job("works on", LONG, LONG)).orElseThrow();
        CompletableFuture.runAsync(hasty::close).join();
        assertThat(isFree("works on")).isTrue();
        lock.unlock();
    }

    @Test
    void jobThatClosesTheClient_isNotWaitedFor() throws InterruptedException {
        ZooKeeperClient patient = closesAfter(LONG);
        on(patient).lock(job("closes", LONG, Duration.ZERO)).orElseThrow();
        patient.close();
        assertThat(isFree("closes")).isTrue();
    }

    @Test
    void jobThatHasLostItsLock_isNotWaitedFor() throws InterruptedException {
        ZooKeeperClient patient = closesAfter(LONG);
        on(patient).lock(job("hangs", Duration.ofMillis(1), Duration.ZERO)).orElseThrow();
        Soon.await().until(() -> isFree("hangs"));
        CompletableFuture.runAsync(patient::close).join();
        assertThat(patient.connectionState()).isEqualTo(ConnectionState.CLOSED);
    }

    @Test
    void anotherThread_mayUnlock_andNoThreadEntersAgain() throws InterruptedException, ExecutionException {
        SimpleLock lock = lock("threads", LONG, Duration.ZERO);
        assertThat(on(client).lock(job("threads", LONG, Duration.ZERO))).isEmpty();
        CompletableFuture.runAsync(lock::unlock).get();
        assertThat(isFree("threads")).isTrue();
    }

    @Test
    void everyName_isAPathOfItsOwn() {
        List<String> names =
                List.of("a", "a/b", "/", "a b", "a+b", "%2F", "ü", "\u0000", "...", "zookeeper", "\n", "a%2Fb");
        List<SimpleLock> locks =
                names.stream().map(name -> lock(name, LONG, Duration.ZERO)).toList();
        assertThat(locks).hasSameSizeAs(names);
        names.forEach(name -> assertThat(isFree(name)).as(name).isFalse());
        for (String bad : List.of(".", "..", "a\uD800", "\uDC00")) {
            assertThatThrownBy(() -> lock(bad, LONG, Duration.ZERO)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void badPath_isRejectedWhenTheProviderIsMade() {
        for (String bad : List.of("jobs", "/", "/jobs/", "")) {
            assertThatThrownBy(() -> new ZooKeeperLockProvider(client, bad))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void anyTimes_areHeeded() {
        Duration forEver = Duration.ofSeconds(Long.MAX_VALUE / 2_000_000_000);
        SimpleLock lock = on(client).lock(job("for ever", forEver, forEver)).orElseThrow();
        lock.unlock();
        assertThat(isFree("for ever")).isFalse();
        assertThat(on(client).lock(job("at once", Duration.ZERO, Duration.ZERO)))
                .isPresent();
        Soon.await().until(() -> isFree("at once"));
    }

    @Test
    void options_areThoseOfEachLock() throws InterruptedException {
        LockOptions options =
                LockOptions.defaults().withOwnerLabel("night shift").withHoldAtMost(Duration.ofMillis(1));
        ZooKeeperLockProvider provider = new ZooKeeperLockProvider(client, "/jobs", options);
        assertThat(provider.lock(job("named", LONG, Duration.ZERO))).isPresent();
        assertThat(isFree("named")).isFalse();
        assertThat(new LockInternals(other, "/jobs/named", new MutexDriver(), LockOptions.defaults())
                        .unowned()
                        .participants())
                .extracting(Participant::owner)
                .containsExactly("night shift");
    }

    @Test
    void withoutAServer_lockWaitsForHalfOfTheTimeThatItIsKept() {
        server.stop();
        Soon.await().until(() -> client.connectionState() != ConnectionState.CONNECTED);
        CompletableFuture<Boolean> locked = CompletableFuture.supplyAsync(
                () -> on(client).lock(job("late", LONG, LONG)).isPresent());
        server.restart();
        assertThat(Soon.get(locked)).isTrue();
    }

    /** Nobody has noticed yet that there is no connection. Another process may run the job meanwhile, and end it. */
    @Test
    @Tag("H217")
    void withoutAnAnswer_lockWaitsNoLongerThanWithoutAServer() throws InterruptedException {
        FaultProxy proxy = proxy();
        ZooKeeperClient stalled = client(proxy);
        Duration least = Duration.ofSeconds(2); // half of it is what any answer is waited for
        proxy.pause();
        CompletableFuture<Boolean> late = CompletableFuture.supplyAsync(
                () -> on(stalled).lock(job("late", LONG, least)).isPresent());
        SimpleLock first = on(other).lock(job("late", LONG, Duration.ZERO)).orElseThrow();
        first.unlock();
        Soon.await().until(() -> isFree("late"));
        assertThatThrownBy(() -> Soon.get(late)).hasStackTraceContaining("no answer from ZooKeeper within PT1S,");
        proxy.resume();
    }

    @Test
    void namespace_isThatOfTheClient() throws InterruptedException {
        ZooKeeperClient tenant = client(settings().namespace("/tenant"));
        assertThat(on(tenant).lock(job("report", LONG, Duration.ZERO))).isPresent();
        assertThat(server.children("/tenant/jobs/report")).hasSize(1);
    }

    @Test
    void withoutAServer_lockFailsAtOnce_andUnlockDoesNot() {
        SimpleLock lock = lock("alone", LONG, Duration.ZERO);
        server.stop();
        try {
            assertThatThrownBy(() -> on(client).lock(job("a new\none", LONG, Duration.ZERO)))
                    .isInstanceOf(LockException.class)
                    .hasMessageContaining("lock a+new%0Aone: ")
                    .hasCauseInstanceOf(LockConnectionException.class);
            lock.unlock();
        } finally {
            server.restart();
        }
        Soon.await().until(() -> server.children("/jobs/alone").isEmpty());
    }
}
