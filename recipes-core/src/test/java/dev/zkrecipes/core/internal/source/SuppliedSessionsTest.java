// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.MAP;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.argThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.PrintedWhile;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.handle.Containers;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.thread.Pauses;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A client whose handles are supplied asks on, whatever fails on the way. */
class SuppliedSessionsTest {
    private static final Duration FIRST_PAUSE = Duration.ofMillis(20);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    private final ManualScheduler scheduler = new ManualScheduler();
    private final ZooKeeper handle = mock(ZooKeeper.class);
    private final List<LockException> told = new ArrayList<>();
    private boolean hasHandle = true;
    private int used;
    private Session last;

    private final SuppliedSessions sessions = new SuppliedSessions(
            () -> {
                if (!hasHandle) {
                    throw new IllegalStateException("played: no handle");
                }
                return handle;
            },
            Runnable::run,
            found -> {
                used++;
                throw new IllegalStateException("played");
            },
            session -> {},
            scheduler,
            new Pauses(scheduler, FIRST_PAUSE, LONGEST_PAUSE));

    private final SessionSource.User user = new SessionSource.User() {
        @Override
        public void with(Session session) {
            throw new AssertionError("none is made");
        }

        @Override
        public String lockPath() {
            return "/locks/orders";
        }

        @Override
        public void unavailable(LockException why) {
            told.add(why);
        }

        @Override
        public void notNow(LockException why) {
            told.add(why);
        }
    };

    @BeforeEach
    void play() {
        when(handle.getState()).thenReturn(ZooKeeper.States.CONNECTED);
        when(handle.getClientConfig()).thenReturn(new ZKClientConfig());
    }

    @Test
    void handleThatCannotBeUsed_isToldOf_andTheSupplierIsAskedAgain() {
        sessions.request(user);
        scheduler.run();
        assertThat(used).isEqualTo(1);
        assertThat(told)
                .singleElement()
                .satisfies(why -> assertThat(why).hasCauseInstanceOf(IllegalStateException.class));
        scheduler.advance(Duration.ofSeconds(1));
        assertThat(used).isGreaterThan(1);
    }

    /** The application may replace the handle, so those who queue go on waiting, and say it when their time is over. */
    @Test
    @Tag("H187")
    void handleWhoseCredentialsAreRefused_isToldOf() {
        when(handle.getState()).thenReturn(ZooKeeper.States.AUTH_FAILED);
        assertThat(warnings()).isEqualTo(1);
        assertThat(told)
                .isNotEmpty()
                .allSatisfy(why -> assertThat(why)
                        .isInstanceOf(LockAccessException.class)
                        .hasMessageContaining("close the handle"));
    }

    /** A try fails with it at once, and others say it when their time is over. */
    @Test
    @Tag("H187")
    void endedHandle_isToldOf() {
        when(handle.getState()).thenReturn(ZooKeeper.States.CLOSED);
        sessions.request(user);
        scheduler.run();
        assertThat(told)
                .singleElement()
                .isInstanceOf(LockConnectionException.class)
                .satisfies(why -> assertThat(why).hasMessageContaining("CLOSED"));
    }

    /** A server has said so in an answer, and the handle itself learns of it a little later. */
    @Test
    @Tag("H275")
    void sessionThatHasEndedBeforeItsHandleKnows_isWaitedFor() {
        List<ZooKeeper> handles = new ArrayList<>(List.of(handle));
        SuppliedSessions supplied = supplied(() -> handles.get(handles.size() - 1));
        supplied.start();
        scheduler.run();
        last.become(State.EXPIRED);
        SessionSource.User waiting = mock();
        when(waiting.lockPath()).thenReturn("/locks/orders");
        supplied.request(waiting);
        scheduler.run();
        verify(waiting, never()).unavailable(any());
        verify(waiting).notNow(argThat(why -> why.getMessage().contains("EXPIRED")));
        handles.add(another());
        scheduler.advance(LONGEST_PAUSE);
        verify(waiting).with(last);
        assertThat(last.isEnded()).isFalse();
    }

    /** The client is closed while the supplier is asked: the handle is no longer its own. */
    @Test
    @Tag("H188")
    void handleThatComesAfterTheEnd_isNotUsed() {
        sessions.request(user);
        sessions.stop();
        scheduler.run();
        assertThat(used).isZero();
        assertThat(told).isEmpty();
    }

    @Test
    void afterAHandle_thePausesAreShortAgain() {
        AtomicInteger asked = new AtomicInteger();
        SuppliedSessions supplied = supplied(() -> {
            asked.incrementAndGet();
            if (!hasHandle) {
                throw new IllegalStateException("played: no handle");
            }
            return handle;
        });
        hasHandle = false;
        supplied.request(mock());
        scheduler.advance(LONGEST_PAUSE.multipliedBy(10));
        hasHandle = true;
        scheduler.advance(LONGEST_PAUSE);
        assertThat(used).isEqualTo(1);
        hasHandle = false;
        supplied.request(mock());
        scheduler.run();
        int before = asked.get();
        scheduler.advance(FIRST_PAUSE);
        assertThat(asked).hasValue(before + 1);
    }

    /** Sessions of handles that the supplier returns, with scripted operations. */
    private SuppliedSessions supplied(Supplier<ZooKeeper> supplier) {
        ScriptedOperations operations = new ScriptedOperations(scheduler);
        return new SuppliedSessions(
                supplier,
                Runnable::run,
                found -> new Session(
                        states -> operations,
                        scheduler,
                        new Containers(false, scheduler),
                        operations.sessionTimeout(),
                        LONGEST_PAUSE,
                        false,
                        (ended, state) -> {}),
                session -> {
                    used++;
                    last = session;
                },
                scheduler,
                new Pauses(scheduler, FIRST_PAUSE, LONGEST_PAUSE));
    }

    private static ZooKeeper another() {
        ZooKeeper next = mock();
        when(next.getState()).thenReturn(ZooKeeper.States.CONNECTED);
        when(next.getClientConfig()).thenReturn(new ZKClientConfig());
        return next;
    }

    @Test
    @Tag("H241")
    void handleThatIsReplaced_isForgotten() {
        List<ZooKeeper> handles = new ArrayList<>(List.of(handle));
        SuppliedSessions supplied = supplied(() -> handles.get(handles.size() - 1));
        supplied.start();
        scheduler.run();
        when(handle.getState()).thenReturn(ZooKeeper.States.CLOSED);
        ZooKeeper next = another();
        handles.add(next);
        supplied.request(mock());
        scheduler.run();
        assertThat(used).isEqualTo(2);
        assertThat(supplied).extracting("known", MAP).containsOnlyKeys(next);
    }

    /** The session that is there serves the next request; only that asks again. */
    @Test
    void supplierThatFailsWhileASessionIsThere_andNobodyWaits_isNotAskedAgain() {
        AtomicInteger asked = new AtomicInteger();
        SuppliedSessions supplied = supplied(() -> {
            asked.incrementAndGet();
            if (!hasHandle) {
                throw new IllegalStateException("played: no handle");
            }
            return handle;
        });
        supplied.start();
        scheduler.run();
        hasHandle = false;
        SessionSource.User gone = mock();
        supplied.request(gone);
        supplied.forget(gone);
        scheduler.run();
        assertThat(asked).hasValue(2);
        scheduler.advance(LONGEST_PAUSE.multipliedBy(10));
        assertThat(asked).hasValue(2);
    }

    @Test
    void failuresInARow_areLoggedOnce_andThoseAfterAHandleAgain() {
        hasHandle = false;
        assertThat(warnings()).isEqualTo(1);
        assertThat(warnings()).isZero();
        hasHandle = true;
        when(handle.getState()).thenReturn(ZooKeeper.States.CLOSED);
        assertThat(warnings()).isZero();
        hasHandle = false;
        assertThat(warnings()).isEqualTo(1);
    }

    private long warnings() {
        return PrintedWhile.running(() -> {
                    sessions.request(user);
                    scheduler.advance(Duration.ofSeconds(10));
                })
                .lines()
                .filter(line -> line.contains("The supplier gave no ZooKeeper handle"))
                .count();
    }
}
