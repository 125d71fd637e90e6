// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockObserver;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.PrintedWhile;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.spi.ForeignLock;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockParts;
import dev.zkrecipes.core.spi.port.Ports;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a wait that gets long costs, and who is told. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SlowWaitsTest {
    private static final String HOLDER = "0123456789abcdef0123456789abcdef-lock-0000000000";

    private final ManualScheduler scheduler = new ManualScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler);
    private final List<String> told = new ArrayList<>();
    private final List<Consumer<State>> sessions = new ArrayList<>();
    private final ZooKeeperClient client = Ports.clientBuilder(
                    states -> {
                        sessions.add(states);
                        return operations;
                    },
                    scheduler)
            .callbackExecutor(Runnable::run)
            .slowAfter(Duration.ofSeconds(10))
            .observer(request -> new LockObserver.Progress() {
                @Override
                public void onSlow(Duration waited) {
                    told.add(request.path() + " after " + waited.toSeconds());
                }
            })
            .build();

    @CanIgnoreReturnValue
    private CompletableFuture<Lease> waiting(String path, String nodeName) {
        return waiting(path, new TestDriver(nodeName));
    }

    @CanIgnoreReturnValue
    private CompletableFuture<Lease> waiting(String path, LockDriver driver) {
        return waiting(path, driver, LockOptions.defaults());
    }

    @CanIgnoreReturnValue
    private CompletableFuture<Lease> waiting(String path, LockDriver driver, LockOptions options) {
        CompletableFuture<Lease> asked =
                new LockInternals(client, path, driver, options).unowned().acquireAsync();
        scheduler.run();
        return asked;
    }

    /** The questions for the queue and its holder that are sent in this time. */
    private List<Request> asked(Duration time) {
        operations.requests();
        scheduler.advance(time);
        return operations.requests().stream()
                .filter(request -> request == Request.LIST || request == Request.READ)
                .toList();
    }

    @Test
    void wait_asksNothingUntilItIsSlow_andThenOnceAMinuteForEachLock() {
        operations.add(HOLDER);
        for (int i = 0; i < 5; i++) {
            waiting("/locks/orders", "lock-");
        }
        assertThat(asked(Duration.ofSeconds(9))).isEmpty();
        assertThat(asked(Duration.ofSeconds(3))).containsExactly(Request.LIST, Request.READ);
        assertThat(asked(Duration.ofSeconds(55))).isEmpty();
        assertThat(asked(Duration.ofSeconds(5))).containsExactly(Request.LIST, Request.READ);
        waiting("/locks/others", "lock-");
        assertThat(asked(Duration.ofSeconds(12))).containsExactly(Request.LIST, Request.READ);
    }

    @Test
    void observers_areToldOnceOfEachRequest_thatStillWaits() {
        operations.add(HOLDER);
        CompletableFuture<Lease> left = waiting("/locks/orders", "lock-");
        waiting("/locks/orders", "lock-");
        scheduler.advance(Duration.ofSeconds(5));
        left.cancel(false);
        waiting("/locks/others", "lock-");
        scheduler.advance(Duration.ofMinutes(5));
        assertThat(told).containsExactly("/locks/orders after 10", "/locks/others after 10");
    }

    @Test
    void nothing_isLookedAtWhenNobodyWaits() {
        CompletableFuture<Lease> granted = waiting("/locks/orders", "lock-");
        assertThat(granted).isCompleted();
        scheduler.advance(Duration.ofSeconds(2));
        long looks = looks();
        scheduler.advance(Duration.ofSeconds(20));
        assertThat(looks()).isEqualTo(looks);
        assertThat(told).isEmpty();
    }

    private long looks() {
        return scheduler.delays().stream().filter(EverySecond.PERIOD::equals).count();
    }

    @Test
    void withoutAConnection_nobodyIsAsked_andTheQuestionComesWithIt() {
        operations.add(HOLDER);
        waiting("/locks/orders", "lock-");
        sessions.get(0).accept(State.DISCONNECTED);
        assertThat(asked(Duration.ofSeconds(15))).isEmpty();
        assertThat(told).hasSize(1);
        sessions.get(0).accept(State.CONNECTED);
        scheduler.run(); // what a reconnection takes anyway
        assertThat(asked(Duration.ofSeconds(2))).containsExactly(Request.LIST, Request.READ);
    }

    @Test
    void withoutAConnection_thatIsWarnedOf_andTheQueueWhenThereIsOne() throws ReflectiveOperationException {
        operations.add(HOLDER);
        waiting("/locks/orders", "lock-");
        sessions.get(0).accept(State.DISCONNECTED);
        assertThat(warnings(Duration.ofSeconds(30)))
                .singleElement(STRING)
                .contains("Waiting for the lock /locks/orders for 10 s: not connected to ZooKeeper. The wait goes on");
        sessions.get(0).accept(State.CONNECTED);
        scheduler.run(); // what a reconnection takes anyway
        assertThat(warnings(Duration.ofSeconds(2))).singleElement(STRING).contains("place 2 of 2, held by unknown");
    }

    /** As a candidate for leadership, it waits for as long as another leads. */
    @Test
    void requestThatStandsBy_isNotSlow() {
        operations.add(HOLDER);
        waiting("/locks/orders", new TestDriver("lock-"), LockOptions.defaults().withStandby());
        assertThat(asked(Duration.ofMinutes(5))).isEmpty();
        assertThat(told).isEmpty();
    }

    /** It is in no place of the queue: what it waits for is passed on in this process. */
    @Test
    void waitBehindAHolderOfTheSameProcess_isWarnedOf() throws ReflectiveOperationException {
        operations.add(HOLDER);
        ForeignLock passedOn = mock(ForeignLock.class);
        when(passedOn.path()).thenReturn("/locks/orders");
        when(passedOn.acquireAsync()).thenReturn(new CompletableFuture<>());
        InterProcessLock on =
                new LockInternals(client, "/locks/orders", new TestDriver("lock-"), LockOptions.defaults()).unowned();
        var unused = LockParts.foreign(passedOn, LockOptions.defaults(), on).acquireAsync();
        assertThat(warnings(Duration.ofSeconds(12)))
                .singleElement(STRING)
                .contains("Waiting for the lock /locks/orders for 10 s: held by unknown (node " + HOLDER);
    }

    private List<String> warnings(Duration time) throws ReflectiveOperationException {
        return PrintedWhile.warningsOfLocks(() -> scheduler.advance(time));
    }

    @Test
    void ofManyHolders_thoseAreReadThatAreNamed() throws ReflectiveOperationException {
        for (int i = 0; i < 1000; i++) {
            operations.add(String.format("0123456789abcdef0123456789abcdef-lock-%010d", i));
        }
        operations.count(1000);
        waiting("/locks/orders", new TestDriver("lock-", 1000));
        operations.requests();
        assertThat(warnings(Duration.ofSeconds(12)))
                .singleElement(STRING)
                .contains("for 10 s: place 1001 of 1001, held by unknown")
                .contains("lock-0000000002, 0 s old), and others. If its holder");
        assertThat(operations.requests())
                .containsExactly(Request.LIST, Request.READ, Request.READ, Request.READ, Request.READ);
    }

    /** A late executor comes to it when the request is over. */
    @Test
    void observers_areNotToldOfARequestThatIsOver() throws InterruptedException {
        operations.add(HOLDER);
        List<Runnable> late = new ArrayList<>();
        ZooKeeperClient other = Ports.clientBuilder(states -> operations, scheduler)
                .callbackExecutor(late::add)
                .slowAfter(Duration.ofSeconds(10))
                .observer(request -> new LockObserver.Progress() {
                    @Override
                    public void onAbandoned(Duration waited, LockObserver.Ending how) {
                        told.add(how.toString());
                    }

                    @Override
                    public void onSlow(Duration waited) {
                        told.add("slow");
                    }
                })
                .build();
        InterProcessLock lock =
                new LockInternals(other, "/locks/orders", new TestDriver("lock-"), LockOptions.defaults()).unowned();
        assertThat(lock.tryAcquire(Duration.ofSeconds(15))).isEmpty();
        assertThat(late).isNotEmpty();
        late.forEach(Runnable::run);
        assertThat(told).containsExactly("TIMED_OUT");
    }

    @Test
    void observerThatRefusesTheClient_closesIt() {
        List<Supplier<ConnectionState>> seen = new ArrayList<>();
        ZooKeeperClientBuilder builder = Ports.clientBuilder(states -> operations, scheduler)
                .observer(new LockObserver() {
                    @Override
                    public Progress onWaiting(LockObserver.Request request) {
                        return new Progress() {};
                    }

                    @Override
                    public void onClient(Supplier<ConnectionState> connection) {
                        seen.add(connection);
                        throw new AssertionError("no such registry");
                    }
                });
        assertThatThrownBy(builder::build).isInstanceOf(AssertionError.class).hasMessage("no such registry");
        assertThat(seen)
                .singleElement()
                .satisfies(state -> assertThat(state.get()).isEqualTo(ConnectionState.CLOSED));
    }

    @Test
    void timeThatIsNone_isRejected() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ZooKeeperClient.builder().slowAfter(Duration.ZERO))
                .withMessage("slowAfter is PT0S, must be positive");
    }

    @Test
    void timeOfCenturies_isAccepted() {
        assertThatNoException()
                .isThrownBy(() -> Ports.clientBuilder(states -> operations, scheduler)
                        .slowAfter(Duration.ofDays(365 * 300))
                        .build());
    }
}
