// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.PrintedWhile;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.thread.Pauses;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.Ports;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What becomes of those who wait for a session if no handle can be opened. */
class OpenedSessionsTest {
    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);

    private final ManualScheduler scheduler = new ManualScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler);
    private final List<Consumer<State>> opened = new ArrayList<>();
    private final AtomicInteger tries = new AtomicInteger();
    private Throwable failure;
    private boolean refusing;
    private final ZooKeeperClient client = Ports.clientBuilder(
                    states -> {
                        tries.incrementAndGet();
                        if (failure instanceof Error error) {
                            throw error;
                        } else if (failure instanceof RuntimeException exception) {
                            throw exception;
                        }
                        opened.add(states);
                        if (refusing) {
                            scheduler.execute(() -> states.accept(State.AUTH_FAILED));
                        }
                        return operations;
                    },
                    scheduler)
            .callbackExecutor(Runnable::run)
            .retryDelay(FIRST_PAUSE, Duration.ofSeconds(1))
            .build();

    private InterProcessLock locks() {
        return new LockInternals(client, "/locks/orders", new MutexDriver(), LockOptions.defaults()).threadOwned();
    }

    private CompletableFuture<Lease> acquire() {
        CompletableFuture<Lease> wanted = locks().acquireAsync();
        scheduler.advance(Duration.ofSeconds(3));
        return wanted;
    }

    @Test
    void temporaryError_isRetried() {
        failure = new IllegalStateException("no name service");
        CompletableFuture<Lease> wanted = acquire();
        assertThat(wanted).isNotDone();
        failure = null;
        scheduler.advance(Duration.ofSeconds(4));
        assertThat(wanted).isCompleted();
    }

    /** The end of the last session asks for another one, even if it is the client that ends. */
    @Test
    @Tag("H188")
    void endedClient_logsInNoMore() {
        AtomicInteger logins = new AtomicInteger();
        OpenedSessions sessions = new OpenedSessions(
                () -> {
                    logins.incrementAndGet();
                    return Optional.empty();
                },
                () -> {},
                () -> {
                    throw new AssertionError("opened");
                },
                obstacle -> {},
                new Pauses(scheduler, FIRST_PAUSE, Duration.ofSeconds(1)),
                scheduler);
        sessions.start();
        sessions.stop();
        scheduler.run();
        sessions.start();
        scheduler.run();
        assertThat(logins).hasValue(0);
    }

    /** A login may take long, and the client is closed meanwhile. */
    @Test
    @Tag("H188")
    void clientThatEndsDuringItsLogin_opensNoHandle() {
        List<OpenedSessions> ending = new ArrayList<>();
        OpenedSessions sessions = new OpenedSessions(
                () -> {
                    ending.get(0).stop();
                    return Optional.empty();
                },
                () -> {},
                () -> {
                    throw new IllegalStateException("opened");
                },
                obstacle -> tries.incrementAndGet(),
                new Pauses(scheduler, FIRST_PAUSE, Duration.ofSeconds(1)),
                scheduler);
        ending.add(sessions);
        scheduler.run();
        tries.set(0);
        sessions.start();
        scheduler.run();
        assertThat(tries).hasValue(0);
    }

    @Test
    void afterASession_thePausesAreShortAgain() {
        failure = new IllegalStateException("no name service");
        scheduler.advance(Duration.ofSeconds(10));
        failure = null;
        scheduler.advance(Duration.ofSeconds(13));
        assertThat(opened).hasSize(1);
        failure = new IllegalStateException("no name service");
        scheduler.execute(() -> opened.get(0).accept(State.EXPIRED));
        scheduler.run();
        failure = null;
        scheduler.advance(FIRST_PAUSE);
        assertThat(opened).hasSize(2);
    }

    @Test
    @Tag("H143")
    void tryInAPause_failsAtOnce_withTheCauseOfTheLastFailure() {
        failure = new IllegalStateException("no name service");
        scheduler.run();
        int before = tries.get();
        assertThatThrownBy(() -> locks().tryAcquire())
                .isInstanceOf(LockConnectionException.class)
                .hasMessageContaining("no name service")
                .hasRootCause(failure);
        assertThat(tries).hasValue(before);
    }

    @Test
    void tryBeforeTheFirstConnection_saysHowToWaitForIt() {
        operations.begin(State.CONNECTING);
        scheduler.run();
        assertThat(opened).hasSize(1);
        assertThatThrownBy(() -> locks().tryAcquire())
                .isInstanceOf(LockConnectionException.class)
                .hasMessageContaining("wait for the connection first (awaitConnected)");
    }

    @Test
    @Tag("H143")
    void missingClass_failsRequestsAtOnce_whileItIsTriedEverMoreSeldom() {
        NoClassDefFoundError missing = new NoClassDefFoundError("io/netty/channel/Channel");
        failure = new LockConnectionException("no ZooKeeper handle can be opened: " + missing, missing);
        int[] requests = {0};
        String log = PrintedWhile.running(() -> {
            for (int second = 0; second < 600; second++) {
                CompletableFuture<Lease> wanted = locks().acquireAsync();
                scheduler.advance(Duration.ofSeconds(1));
                assertThat(wanted).isDone();
                assertThatThrownBy(wanted::join)
                        .cause()
                        .isInstanceOf(LockConnectionException.class)
                        .hasMessageContaining("io/netty/channel/Channel")
                        .hasRootCause(missing);
                requests[0]++;
            }
        });
        assertThat(requests[0]).isEqualTo(600);
        assertThat(tries).hasValueLessThan(35); // eleven until the pauses last a minute, and then up to two a minute
        assertThat(log.lines().filter(line -> line.contains("There is no ZooKeeper session")))
                .as(log)
                .hasSizeBetween(5, 11);
        assertThat(log).doesNotContain("\tat ");
        failure = null;
        scheduler.advance(Duration.ofMinutes(1));
        assertThat(opened).hasSize(1);
    }

    @Test
    @Tag("H104")
    void sessionWithRefusedCredentials_isFollowedByAnother_onlyWhenSomebodyAsks() {
        scheduler.advance(Duration.ofSeconds(1));
        assertThat(opened).hasSize(1);
        scheduler.execute(() -> opened.get(0).accept(State.AUTH_FAILED));
        scheduler.advance(Duration.ofMinutes(10));
        assertThat(opened).hasSize(1);
        assertThat(acquire()).isCompleted();
        assertThat(opened).hasSize(2);
    }

    @Test
    @Tag("H143")
    void refusedCredentials_failRequests_forPausesOfUpToAMinute() {
        refusing = true;
        String log = PrintedWhile.running(() -> {
            for (int second = 0; second < 600; second++) {
                CompletableFuture<Lease> wanted = locks().acquireAsync();
                scheduler.advance(Duration.ofSeconds(1));
                assertThat(wanted).isDone();
                assertThatThrownBy(wanted::join).cause().isInstanceOf(LockAccessException.class);
            }
        });
        assertThat(opened).hasSizeLessThan(35);
        assertThat(log.lines().filter(line -> line.contains("refused the credentials")))
                .as(log)
                .hasSizeBetween(5, 11);
    }
}
