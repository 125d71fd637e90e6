// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.handle.Containers;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.thread.Pauses;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class SessionTaskTest {
    private static final Duration FIRST_DELAY = Duration.ofMillis(20);
    private static final Duration LONGEST_DELAY = Duration.ofSeconds(1);
    private final LockException REFUSAL = new LockConnectionException("no session");

    private enum Phase {
        LOOKING,
        RESTING,
        WORKING,
        WAITING
    }

    private final ManualScheduler scheduler = new ManualScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler);
    private final Source source = new Source();
    private final Session session = newSession();
    private final List<Object> told = new ArrayList<>();
    private final Task task = new Task();

    private Session newSession() {
        return new Session(
                states -> operations,
                scheduler,
                new Containers(false, scheduler),
                operations.sessionTimeout(),
                LONGEST_DELAY,
                true,
                (ended, state) -> {});
    }

    /** Gives no session by itself. */
    private static final class Source implements SessionSource {
        private final List<User> asking = new ArrayList<>();

        @Override
        public void start() {}

        @Override
        public void request(User user) {
            asking.add(user);
        }

        @Override
        public void forget(User user) {
            asking.remove(user);
        }

        @Override
        public void onEnded(Session ended) {}

        @Override
        public void stop() {}
    }

    /** Notes what it is told. */
    private final class Task extends SessionTask {
        private Runnable onSession = () -> {};

        Task() {
            super(source, new Pauses(scheduler, FIRST_DELAY, LONGEST_DELAY), Phase.LOOKING, Phase.RESTING);
        }

        @Override
        public String lockPath() {
            return "/locks/orders";
        }

        @Override
        protected void onSession(Session found) {
            told.add(found);
            onSession.run();
        }

        @Override
        protected void onSessionEnded(State how) {
            told.add(how);
            seek();
        }

        @Override
        public void fail(LockException why) {
            told.add(why);
            finish();
        }

        Session workedIn() {
            return session();
        }
    }

    private void work() {
        task.seek();
        task.with(session);
        session.begin();
        told.clear();
    }

    // ---- States.

    @Test
    @Tag("H45")
    void throwingTransition_failsTheTaskWithItsCause() {
        RuntimeException failure = new IllegalStateException("broken");
        task.guard(() -> {
            throw failure;
        });
        assertThat(told)
                .singleElement()
                .satisfies(
                        why -> assertThat((LockException) why).hasCause(failure).hasMessageContaining("/locks/orders"));
    }

    @Test
    void throwingAnswerHandler_failsTheTask_withALockErrorAsItIs() {
        Consumer<String> receiver = task.inThisState(value -> {
            throw REFUSAL;
        });
        receiver.accept("any");
        assertThat(told).containsExactly(REFUSAL);
    }

    @Test
    void answerOfAnEarlierState_isDropped_alsoIfTheStateIsTheSameAgain() {
        List<String> heard = new ArrayList<>();
        task.become(Phase.WORKING);
        Consumer<String> early = task.inThisState(heard::add);
        task.become(Phase.WORKING);
        Consumer<String> late = task.inThisState(heard::add);
        early.accept("early");
        late.accept("late");
        late.accept("again");
        assertThat(heard).containsExactly("late", "again");
    }

    @Test
    void finishedTask_isInNoStateAndHearsNothing() {
        work();
        task.become(Phase.WORKING);
        Consumer<String> receiver = task.inThisState(told::add);
        assertThat(task.isIn(Phase.WORKING)).isTrue();
        assertThat(task.isOver()).isFalse();
        assertThat(task.finish()).isTrue();
        assertThat(task.finish()).as("only once").isFalse();
        assertThat(task.isIn(Phase.WORKING)).isFalse();
        assertThat(task.isOver()).isTrue();
        receiver.accept("late");
        task.seek();
        session.become(State.EXPIRED);
        task.onEnded(State.EXPIRED);
        assertThat(told).isEmpty();
        assertThat(source.asking).isEmpty();
    }

    @Test
    void finishedTask_asksForNoSession() {
        task.seek();
        assertThat(source.asking).containsExactly(task);
        task.finish();
        assertThat(source.asking).isEmpty();
        task.with(session);
        task.unavailable(REFUSAL);
        assertThat(told).isEmpty();
    }

    // ---- The session.

    @Test
    void foundSession_isUsedFromThenOn() {
        task.seek();
        task.with(session);
        assertThat(told).containsExactly(session);
        assertThat(task.workedIn()).isSameAs(session);
        task.with(newSession());
        task.unavailable(REFUSAL);
        assertThat(told).as("it does not look for another").containsExactly(session);
    }

    @Test
    void beforeASessionIsFound_thereIsNone() {
        task.seek();
        assertThatThrownBy(task::workedIn)
                .isInstanceOf(NullPointerException.class)
                .hasMessageContaining("LOOKING");
    }

    @Test
    void throwingStartInANewSession_failsTheTask_andLeavesTheSession() {
        task.onSession = () -> {
            throw REFUSAL;
        };
        task.seek();
        task.with(session);
        assertThat(told).containsExactly(session, REFUSAL);
        session.become(State.EXPIRED);
        assertThat(told).hasSize(2);
    }

    @Test
    void endedSession_isForgotten_andAnotherIsSought() {
        work();
        task.become(Phase.WORKING);
        session.become(State.EXPIRED);
        assertThat(told).containsExactly(State.EXPIRED);
        assertThat(task.isIn(Phase.LOOKING)).isTrue();
        assertThat(source.asking).hasSize(2);
        assertThatThrownBy(task::workedIn).isInstanceOf(NullPointerException.class);
        Session next = newSession();
        task.with(next);
        assertThat(task.workedIn()).isSameAs(next);
    }

    @Test
    void unavailableSession_failsTheTask() {
        task.seek();
        task.unavailable(REFUSAL);
        assertThat(told).containsExactly(REFUSAL);
    }

    // ---- Pauses.

    private int pausedFor(Duration time) {
        int[] runs = {0};
        task.pauseThen(() -> {
            task.become(Phase.WORKING);
            runs[0]++;
        });
        assertThat(task.isIn(Phase.RESTING)).isTrue();
        scheduler.advance(time);
        return runs[0];
    }

    @Test
    void pause_growsUntilASuccess() {
        work();
        assertThat(pausedFor(FIRST_DELAY)).isEqualTo(1);
        for (int i = 0; i < 6; i++) {
            assertThat(pausedFor(LONGEST_DELAY)).isEqualTo(1);
        }
        assertThat(pausedFor(FIRST_DELAY)).isZero();
        task.resetPace();
        assertThat(pausedFor(FIRST_DELAY)).isEqualTo(1);
    }

    @Test
    void pause_endsWithTheNextConnection_andThenTheDelayDoesNothing() {
        List<String> done = new ArrayList<>();
        task.seek();
        task.with(session);
        task.pauseThen(() -> {
            task.become(Phase.WORKING);
            done.add("worked");
        });
        session.begin();
        session.become(State.DISCONNECTED);
        session.become(State.CONNECTED);
        assertThat(scheduler.timers()).as("the session's own is left").isEqualTo(1);
        scheduler.advance(LONGEST_DELAY);
        assertThat(done).containsExactly("worked");
        assertThat(task.isIn(Phase.WORKING)).isTrue();
    }

    @Test
    void pause_neverEndsWithoutAConnection_butWithTheNextOne() {
        work();
        session.become(State.DISCONNECTED);
        assertThat(pausedFor(LONGEST_DELAY)).isZero();
        assertThat(task.isIn(Phase.RESTING)).isTrue();
        session.become(State.CONNECTED);
        assertThat(task.isIn(Phase.WORKING)).isTrue();
    }

    @Test
    void throwingActionAfterAPause_failsTheTask() {
        work();
        for (int i = 0; i < 2; i++) {
            Task other = new Task();
            other.seek();
            other.with(session);
            other.pauseThen(() -> {
                throw REFUSAL;
            });
            if (i == 0) {
                scheduler.advance(LONGEST_DELAY);
            } else {
                session.become(State.DISCONNECTED);
                session.become(State.CONNECTED);
            }
            assertThat(other.isOver()).isTrue();
        }
        assertThat(told).containsExactly(session, REFUSAL, session, REFUSAL);
    }

    @Test
    void actionNeedingAConnection_runsAtOnceOrWithTheNextConnection() {
        List<String> done = new ArrayList<>();
        task.seek();
        task.with(session);
        task.become(Phase.WAITING);
        task.whenConnected(() -> {
            task.become(Phase.WORKING);
            done.add("later");
        });
        assertThat(done).isEmpty();
        assertThat(task.isIn(Phase.RESTING)).isTrue();
        session.begin();
        assertThat(done).containsExactly("later");
        task.whenConnected(() -> done.add("now"));
        assertThat(done).containsExactly("later", "now");
        assertThat(task.isIn(Phase.WORKING)).as("without a pause").isTrue();
    }

    @Test
    void postponedAction_isForgottenWithTheNextState() {
        work();
        task.pauseThen(() -> told.add("too late"));
        task.become(Phase.WAITING);
        session.become(State.DISCONNECTED);
        session.become(State.CONNECTED);
        task.become(Phase.RESTING);
        session.become(State.DISCONNECTED);
        session.become(State.CONNECTED);
        scheduler.advance(LONGEST_DELAY);
        assertThat(told).isEmpty();
    }
}
