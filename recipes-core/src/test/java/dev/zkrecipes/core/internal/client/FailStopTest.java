// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ManualScheduler.Failure;
import dev.zkrecipes.core.internal.PrintedWhile;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.Ports;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An error at any point of the engine's work ends the client: nobody believes to hold a lock, and nobody waits. */
@Tag("H79")
@Tag("H97")
@Tag("H119")
class FailStopTest {
    private static final String OTHER = "0123456789abcdef0123456789abcdef-lock-2000000000";

    /** Some hours of a client: grants, releases, lists, losses and alarms, and an error at one point of them. */
    private static final class Run {
        private final ManualScheduler scheduler = new ManualScheduler();
        private final ScriptedOperations operations = new ScriptedOperations(scheduler);
        private final List<Lease> leases = new ArrayList<>();
        private final List<CompletableFuture<?>> waits = new ArrayList<>();
        private final ZooKeeperClient client;
        private final InterProcessLock lock;
        private @Nullable Consumer<State> states;
        private int lossesTold;

        Run() {
            client = Ports.clientBuilder(
                            told -> {
                                states = told;
                                return operations;
                            },
                            scheduler)
                    .callbackExecutor(Runnable::run)
                    .build();
            lock = new LockInternals(client, "/locks/orders", new MutexDriver(), LockOptions.defaults())
                    .instanceOwned();
            scheduler.run();
        }

        private void step(Runnable body) {
            try {
                body.run();
            } catch (InternalError | ClientClosedException e) {
                // the thread that meets the error is told of it, and those that come later
            }
            scheduler.run();
        }

        private CompletableFuture<Lease> ask() {
            CompletableFuture<Lease> wanted = new CompletableFuture<>();
            step(() -> {
                CompletableFuture<Lease> asked = lock.acquireAsync();
                waits.add(asked);
                var unused = asked.thenAccept(lease -> {
                    leases.add(lease);
                    waits.add(lease.ended().toCompletableFuture());
                    lease.onLost(() -> lossesTold++);
                    wanted.complete(lease);
                });
            });
            return wanted;
        }

        private void give(CompletableFuture<Lease> back) {
            step(() -> {
                var unused = back.thenAccept(lease -> waits.add(lease.closeAsync()));
            });
        }

        private void lossOf(CompletableFuture<Lease> held) {
            step(() -> {
                var unused = held.thenAccept(lease -> operations.nodes().forEach(operations::remove));
            });
        }

        private void pass(Duration time) {
            step(() -> scheduler.advance(time));
        }

        void play() {
            Duration timeout = operations.sessionTimeout();
            CompletableFuture<Lease> first = ask();
            CompletableFuture<Lease> second = ask();
            CompletableFuture<Lease> third = ask();
            pass(timeout);
            give(first);
            pass(timeout.dividedBy(2));
            lossOf(second);
            pass(timeout.dividedBy(2));
            step(() -> states.accept(State.DISCONNECTED));
            give(third);
            step(() -> operations.add(OTHER));
            CompletableFuture<Lease> fourth = ask();
            step(() -> states.accept(State.CONNECTED));
            pass(timeout.multipliedBy(2));
            step(() -> operations.remove(OTHER));
            pass(timeout);
            CompletableFuture<Lease> fifth = ask();
            give(fourth);
            pass(timeout);
            give(fifth);
        }

        void assertEnded(Throwable cause) {
            assertThat(leases).noneMatch(Lease::isValid);
            assertThat(leases)
                    .allMatch(lease -> lease.state() == LeaseState.LOST || lease.state() == LeaseState.RELEASED);
            assertThat(lossesTold).isEqualTo((int) leases.stream()
                    .filter(lease -> lease.state() == LeaseState.LOST)
                    .count());
            assertThat(waits).allMatch(CompletableFuture::isDone);
            assertThat(operations.isClosed()).as("the handle is closed").isTrue();
            assertThat(client.connectionState()).isEqualTo(ConnectionState.CLOSED);
            assertThat(scheduler.timers()).isZero();
            assertThatThrownBy(lock::tryAcquire)
                    .isInstanceOf(ClientClosedException.class)
                    .hasMessageContaining("/locks/orders")
                    .hasMessageContaining(cause.toString())
                    .hasMessageContaining("make a new client")
                    .hasCause(cause);
            assertThatThrownBy(() -> client.awaitConnected(Duration.ZERO))
                    .isInstanceOf(ClientClosedException.class)
                    .hasCause(cause);
            client.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void errorAtAnyPoint_endsTheClient(Failure kind) {
        int points = 0;
        boolean ended = true;
        while (ended) {
            Run run = new Run();
            run.scheduler.failAt(kind, ++points);
            run.play();
            ended = run.scheduler.failure().isPresent();
            if (ended) {
                run.assertEnded(run.scheduler.failure().orElseThrow());
            } else {
                assertThat(run.leases).as("of a run without an error").hasSize(5);
            }
        }
        assertThat(points).isGreaterThan(50);
    }

    @Test
    void handleThatCannotBeClosedAtOnce_isClosedLater_andLocksAreLostAtOnce() {
        Run run = new Run();
        CompletableFuture<Lease> held = run.ask();
        CompletableFuture<Lease> waiting = run.ask();
        run.scheduler.allowThreads(false);
        run.scheduler.failAt(Failure.BEFORE_A_TASK, 1);
        String printed = PrintedWhile.running(() -> {
            run.step(() -> run.scheduler.execute(() -> {}));
            run.pass(Duration.ofSeconds(3)); // in which it is tried again
        });
        assertThat(printed).containsOnlyOnce("The lock client has ended itself");
        assertThat(held.join().state()).isEqualTo(LeaseState.LOST);
        assertThatThrownBy(held.join()::fencingToken).hasMessageContaining("because of an error in it");
        assertThat(run.waits).allMatch(CompletableFuture::isDone);
        assertThat(waiting).isNotDone(); // it was never granted
        assertThat(run.operations.isClosed()).isFalse();
        run.scheduler.allowThreads(true);
        run.pass(Duration.ofSeconds(1));
        run.assertEnded(run.scheduler.failure().orElseThrow());
    }

    @Test
    void closeThatFindsNoThread_isFinishedLater_andLocksAreLostAtOnce() {
        Run run = new Run();
        CompletableFuture<Lease> held = run.ask();
        run.scheduler.allowThreads(false);
        run.step(run.client::close);
        assertThat(held.join().state()).isEqualTo(LeaseState.LOST);
        assertThat(run.operations.isClosed()).isFalse();
        run.scheduler.allowThreads(true);
        run.pass(Duration.ofSeconds(1));
        run.assertEnded(run.scheduler.failure().orElseThrow());
    }

    /** A method that an old client jar lacks, say. */
    @ParameterizedTest
    @EnumSource(names = {"CREATE", "LIST", "WATCH_DELETION", "DELETE", "MULTI"})
    void errorOfTheHandle_endsTheClient(Request missing) {
        Run run = new Run();
        NoSuchMethodError error = new NoSuchMethodError("played");
        run.operations.breakOn(missing, error);
        run.play();
        assertThat(run.scheduler.failure()).containsSame(error);
        run.assertEnded(error);
        assertThatThrownBy(run.lock::tryAcquire).hasMessageContaining("use the version of ZooKeeper");
    }

    @ParameterizedTest
    @EnumSource(names = {"CREATE", "WATCH_DELETION"})
    void exceptionInOneRequest_failsThatRequest(Request missing) {
        Run run = new Run();
        run.operations.breakOn(missing, new IllegalStateException("played"));
        run.play();
        assertThat(run.scheduler.failure()).isEmpty();
        assertThat(run.waits.stream().filter(CompletableFuture::isCompletedExceptionally))
                .singleElement()
                .satisfies(failed -> assertThatThrownBy(failed::join)
                        .hasRootCauseMessage("played")
                        .cause()
                        .isInstanceOf(LockException.class)
                        .hasMessageContaining("/locks/orders"));
    }
}
