// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.handle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.PrintedWhile;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A handle that neither answers nor ends is given up. */
class SilenceTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(12);

    private final ManualScheduler scheduler = new ManualScheduler();
    private final ZooKeeperOperations handle = mock(ZooKeeperOperations.class);
    private final List<State> told = new ArrayList<>();
    private final List<Code> answers = new ArrayList<>();
    /** What the handle was asked for. */
    private final List<Consumer<Answer<String>>> asked = new ArrayList<>();

    private Consumer<State> states = state -> {};
    private ZooKeeperOperations operations = handle;

    @BeforeEach
    void open() {
        when(handle.initialState()).thenReturn(State.CONNECTING);
        when(handle.sessionId()).thenReturn(7L);
        when(handle.sessionTimeout()).thenReturn(TIMEOUT);
        doAnswer(call -> asked.add(call.getArgument(1))).when(handle).delete(any(), any());
        MeasuredOperations opened = new MeasuredOperations(
                listener -> {
                    states = listener;
                    return handle;
                },
                scheduler,
                new Containers(false, scheduler),
                told::add);
        operations = opened;
        new PauseDetector(scheduler, TIMEOUT, () -> opened.beat(last())).begin();
    }

    private State last() {
        return told.isEmpty() ? State.CONNECTING : told.get(told.size() - 1);
    }

    private void become(State state) {
        scheduler.execute(() -> states.accept(state));
        scheduler.run();
    }

    private void ask() {
        operations.delete("/node", answer -> answers.add(answer.code()));
        scheduler.run();
    }

    private void answer(Code code) {
        Consumer<Answer<String>> oldest = asked.remove(0);
        scheduler.execute(() -> oldest.accept(code == Code.OK ? Answer.ok("/node") : Answer.failed(code)));
        scheduler.run();
    }

    private void pass(int timeouts) {
        scheduler.advance(TIMEOUT.multipliedBy(timeouts));
    }

    @Test
    @Tag("H109")
    void disconnectedHandle_isGivenUpAfterATimeoutAndAHalf_once() {
        become(State.CONNECTED);
        become(State.DISCONNECTED);
        ask();
        scheduler.advance(TIMEOUT.multipliedBy(3).dividedBy(2));
        assertThat(told).containsExactly(State.CONNECTED, State.DISCONNECTED);
        verify(handle, never()).close();
        String printed = PrintedWhile.running(() -> scheduler.advance(TIMEOUT.dividedBy(2)));
        assertThat(printed).containsOnlyOnce("is given up").doesNotContain("lost data");
        assertThat(told).containsExactly(State.CONNECTED, State.DISCONNECTED, State.EXPIRED);
        assertThat(answers).containsExactly(Code.SESSIONEXPIRED);
        verify(handle).close();

        become(State.CONNECTED);
        answer(Code.OK);
        ask();
        pass(10);
        assertThat(told).as("a handle that was given up stays so").hasSize(3);
        assertThat(answers)
                .as("each request is answered once")
                .containsExactly(Code.SESSIONEXPIRED, Code.SESSIONEXPIRED);
        verify(handle, times(1)).close();
    }

    @Test
    @Tag("H109")
    void connectionThatComes_isHeard() {
        become(State.CONNECTED);
        become(State.DISCONNECTED);
        pass(1);
        become(State.CONNECTED);
        ask();
        pass(1);
        verify(handle, never()).close();
        answer(Code.OK);
        assertThat(answers).containsExactly(Code.OK);
    }

    @Test
    @Tag("H109")
    void handleThatNeverHadASession_isKept() {
        when(handle.sessionId()).thenReturn(0L);
        become(State.DISCONNECTED);
        ask();
        pass(10);
        verify(handle, never()).close();
    }

    @Test
    @Tag("H119")
    void connectedHandleThatAnswersNothing_isGivenUp() {
        become(State.CONNECTED);
        pass(1);
        ask();
        pass(1);
        assertThat(told).containsExactly(State.CONNECTED);
        pass(1);
        assertThat(told).containsExactly(State.CONNECTED, State.EXPIRED);
        assertThat(answers).containsExactly(Code.SESSIONEXPIRED);
        verify(handle).close();
    }

    @ParameterizedTest
    @EnumSource(names = {"CONNECTED", "READ_ONLY", "CONNECTING"})
    void handleThatIsAskedNothing_isKept(State state) {
        if (state != State.CONNECTING) {
            become(state);
        }
        pass(10);
        verify(handle, never()).close();
    }

    @Test
    @Tag("H119")
    void handleThatAnswersSlowly_isKept() {
        become(State.CONNECTED);
        for (int i = 0; i < 10; i++) {
            ask();
            pass(1);
            answer(Code.NONODE);
        }
        verify(handle, never()).close();
        assertThat(told).containsExactly(State.CONNECTED);
    }

    @Test
    @Tag("H119")
    void lossOfTheConnection_isNoAnswerOfAServer() {
        become(State.CONNECTED);
        become(State.DISCONNECTED);
        for (int i = 0; i < 4; i++) {
            ask();
            scheduler.advance(TIMEOUT.dividedBy(2));
            if (!asked.isEmpty()) {
                answer(Code.CONNECTIONLOSS);
            }
        }
        assertThat(told).endsWith(State.EXPIRED);
    }

    @Test
    void processThatStoodStill_hearsWhatTheServerSaid() {
        become(State.CONNECTED);
        ask();
        scheduler.stop(TIMEOUT.multipliedBy(10));
        answer(Code.OK);
        pass(2);
        assertThat(told).containsExactly(State.CONNECTED);
    }

    private Session session(Duration timeoutAskedFor) {
        Session session = new Session(
                listener -> {
                    states = listener;
                    return handle;
                },
                scheduler,
                new Containers(false, scheduler),
                timeoutAskedFor,
                timeoutAskedFor,
                true,
                (changed, state) -> {});
        session.begin();
        return session;
    }

    @Test
    @Tag("H109")
    void session_isGivenUpBeforeItsFirstConnection_too() {
        Session session = session(TIMEOUT);
        operations = session.zk();
        ask();
        pass(2);
        assertThat(session.state()).isEqualTo(State.EXPIRED);
        assertThat(answers).containsExactly(Code.SESSIONEXPIRED);
    }

    @Test
    @Tag("H109")
    void session_isGivenUpByTheTimeoutThatItWasGranted() {
        Session session = session(TIMEOUT.multipliedBy(10));
        become(State.CONNECTED);
        become(State.DISCONNECTED);
        pass(2);
        assertThat(session.state()).isEqualTo(State.EXPIRED);
    }

    /** As with a handle of the application's that was connected before, but is not now. */
    @Test
    @Tag("H206")
    void session_isNotGivenUpBeforeTheTimeoutThatItWasGrantedBefore() {
        Session session = session(TIMEOUT.dividedBy(10));
        become(State.DISCONNECTED);
        pass(1);
        assertThat(session.state()).isEqualTo(State.DISCONNECTED);
        verify(handle, never()).close();
    }
}
