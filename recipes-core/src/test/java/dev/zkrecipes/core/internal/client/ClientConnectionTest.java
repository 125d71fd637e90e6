// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.source.SessionSource;
import dev.zkrecipes.core.internal.thread.Callbacks;
import dev.zkrecipes.core.internal.thread.Deadline;
import dev.zkrecipes.core.internal.thread.EngineExecutor;
import dev.zkrecipes.core.internal.zk.ClientSettings;
import dev.zkrecipes.core.internal.zk.HandleKind;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.Ports;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.zookeeper.ZooDefs;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ClientConnectionTest {
    private static final ClientSettings SETTINGS = new ClientSettings(
            Duration.ofSeconds(30),
            Duration.ofHours(1),
            Duration.ofSeconds(10),
            Duration.ofMillis(100),
            Duration.ofSeconds(1),
            "/",
            path -> ZooDefs.Ids.OPEN_ACL_UNSAFE,
            List.of(),
            null,
            "",
            null,
            List.of(),
            null,
            false,
            false);

    private static final Duration LIMIT = Duration.ofSeconds(120);

    private final ManualScheduler scheduler = new ManualScheduler();
    private final List<ConnectionState> heard = new ArrayList<>();
    private final Consumer<ConnectionState> listener = heard::add;
    private boolean closes;
    private ClientConnection connection = connection(() -> false);

    private ClientConnection connection(BooleanSupplier closing) {
        return connection(closing, scheduler);
    }

    private static ClientConnection connection(BooleanSupplier closing, EngineScheduler scheduler) {
        return new ClientConnection(
                new HandleKind.Opened("127.0.0.1:1"),
                SETTINGS,
                scheduler,
                Callbacks.on(Runnable::run, null, scheduler),
                closing);
    }

    /** Of a client of its own. */
    private Session session() {
        List<Session> given = new ArrayList<>();
        EngineClient.of(Ports.clientBuilder(states -> new ScriptedOperations(scheduler), scheduler)
                        .callbackExecutor(Runnable::run)
                        .build())
                .requests()
                .sessions()
                .request(new SessionSource.User() {
                    @Override
                    public void with(Session session) {
                        given.add(session);
                    }

                    @Override
                    public String lockPath() {
                        return "/locks/orders";
                    }

                    @Override
                    public void unavailable(LockException why) {
                        throw why;
                    }
                });
        scheduler.run();
        return given.get(0);
    }

    @Test
    void lookForTrouble_beginsOnTheEnginesThread() {
        connection.begin();
        assertThat(scheduler.timers()).isZero();
        scheduler.run();
        assertThat(scheduler.timers()).isEqualTo(1);
    }

    @Test
    void waitThatADisconnectBegins_whileTheClientBeginsToClose_endsWithTheClient() throws InterruptedException {
        connection = connection(() -> {
            if (closes) {
                connection.endWaits(); // by the thread that closes, just after this has looked
            }
            return false;
        });
        Session session = session();
        connection.use(session);
        closes = true;
        connection.onState(session, State.DISCONNECTED);
        connection.end();
        EngineScheduler clock = new EngineExecutor(true);
        assertThat(connection.await(Deadline.after(Duration.ofHours(1), clock))).isFalse();
        clock.close();
    }

    @Test
    void waitForAnAnswer_endsWithTheClient() throws InterruptedException {
        EngineExecutor clock = new EngineExecutor(true);
        ClientConnection real = connection(() -> false, clock);
        real.use(session());
        Thread waiting = new Thread(() -> real.awaitWhileConnected(new CompletableFuture<>()));
        waiting.start();
        Awaitility.await().atMost(LIMIT).until(() -> waiting.getState() == Thread.State.TIMED_WAITING);
        real.end();
        waiting.join();
        clock.close();
    }

    /** It has a connection, but has proven nothing for so long that no answer is to be expected. */
    @Test
    @Tag("H86")
    void waitOnAFormerHandle_endsWhenItsSessionIsTakenForLost() {
        EngineExecutor clock = new EngineExecutor(true);
        ClientConnection real = connection(() -> false, clock);
        Session former = session();
        real.use(former);
        real.use(session());
        Deadline late = Deadline.after(Duration.ofHours(1), clock);
        Thread waiting = new Thread(() -> real.awaitWhileConnected(former, new CompletableFuture<>(), late));
        waiting.start();
        Awaitility.await().atMost(LIMIT).until(() -> waiting.getState() == Thread.State.TIMED_WAITING);
        former.takeForLost();
        real.onState(former, State.CONNECTED);
        Awaitility.await().atMost(LIMIT).until(() -> !waiting.isAlive());
        clock.close();
    }

    // ---- What the application is told.

    @Test
    void stateThatStays_isReportedOnce() {
        connection.addListener(listener);
        connection.report(ConnectionState.CONNECTED);
        connection.report(ConnectionState.CONNECTED);
        assertThat(heard).containsExactly(ConnectionState.CONNECTED);
    }

    @Test
    void closed_isTheLastReport() {
        connection.addListener(listener);
        connection.report(ConnectionState.CLOSED);
        connection.report(ConnectionState.EXPIRED);
        assertThat(heard).containsExactly(ConnectionState.CLOSED);
        assertThat(connection.state()).isEqualTo(ConnectionState.CLOSED);
    }

    @Test
    void listenerAddedTwice_isRemovedOnce() {
        connection.addListener(listener);
        connection.addListener(listener);
        connection.removeListener(listener);
        connection.report(ConnectionState.CONNECTED);
        assertThat(heard).hasSize(1);
        connection.removeListener(listener);
        connection.report(ConnectionState.SUSPENDED);
        assertThat(heard).hasSize(1);
    }

    /** The executor may be late, or an earlier call may still be under way. */
    @Test
    @Tag("H209")
    void removedListener_isNotCalledAnyMore() {
        List<Runnable> later = new ArrayList<>();
        connection = new ClientConnection(
                new HandleKind.Opened("127.0.0.1:1"),
                SETTINGS,
                scheduler,
                Callbacks.on(later::add, null, scheduler),
                () -> false);
        connection.addListener(listener);
        connection.report(ConnectionState.CONNECTED);
        connection.removeListener(listener);
        later.forEach(Runnable::run);
        assertThat(heard).isEmpty();
    }
}
