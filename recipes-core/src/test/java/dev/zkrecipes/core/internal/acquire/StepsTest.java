// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.acquire.Steps.Step;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.session.PauseDetector;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.thread.Backoff;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class StepsTest {
    private static final Duration FIRST_DELAY = Duration.ofMillis(20);
    private static final Duration LONGEST_DELAY = Duration.ofSeconds(1);

    private final ManualScheduler scheduler = new ManualScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler);
    private final EngineClient engine = EngineClient.of(ZooKeeperClient.builder()
            .operations(states -> operations, scheduler)
            .retryDelay(FIRST_DELAY, LONGEST_DELAY)
            .build());
    private final Session session = new Session(
            states -> operations,
            scheduler,
            LONGEST_DELAY,
            new PauseDetector(scheduler, () -> operations.sessionTimeout().toNanos()),
            true,
            (ended, state) -> {});
    private final List<Throwable> failures = new ArrayList<>();
    private final Steps steps = new Steps(scheduler, new Backoff(engine.settings(), scheduler.random()), failures::add);

    @Test
    void whatATransitionThrows_isTold() {
        Error failure = new AssertionError("broken");
        steps.guard(() -> {
            throw failure;
        });
        Consumer<String> receiver = steps.inThisStep(value -> {
            throw new IllegalStateException(value);
        });
        receiver.accept("too");
        assertThat(failures).hasSize(2).startsWith(failure);
    }

    @Test
    void answerOfAnEarlierStep_isDropped_alsoIfTheStepIsTheSameAgain() {
        List<String> heard = new ArrayList<>();
        steps.become(Step.LISTING);
        Consumer<String> early = steps.inThisStep(heard::add);
        steps.become(Step.LISTING);
        Consumer<String> late = steps.inThisStep(heard::add);
        early.accept("early");
        late.accept("late");
        assertThat(heard).containsExactly("late");
    }

    private int pausedFor(Duration time) {
        int[] runs = {0};
        steps.pauseThen(session, () -> runs[0]++);
        scheduler.advance(time);
        return runs[0];
    }

    @Test
    void pause_endsAfterADelayThatGrows_untilThingsGoWell() {
        session.begin();
        assertThat(pausedFor(FIRST_DELAY)).isEqualTo(1);
        for (int i = 0; i < 6; i++) {
            assertThat(pausedFor(LONGEST_DELAY)).isEqualTo(1);
        }
        assertThat(pausedFor(FIRST_DELAY)).isZero();
        steps.resetPace();
        assertThat(pausedFor(FIRST_DELAY)).isEqualTo(1);
    }

    @Test
    void pause_endsWithTheNextConnection_andThenTheDelayDoesNothing() {
        List<String> done = new ArrayList<>();
        steps.pauseThen(session, () -> {
            steps.become(Step.LISTING);
            done.add("listed");
        });
        session.begin();
        steps.onConnected();
        steps.onConnected();
        scheduler.advance(LONGEST_DELAY);
        assertThat(done).containsExactly("listed");
        assertThat(steps.isIn(Step.LISTING)).isTrue();
    }

    @Test
    void pause_neverEndsWithoutAConnection() {
        session.begin();
        session.become(State.DISCONNECTED);
        assertThat(pausedFor(LONGEST_DELAY)).isZero();
        assertThat(steps.isIn(Step.PAUSED)).isTrue();
    }

    @Test
    void actionThatNeedsAConnection_isDoneAtOnceIfThereIsOne() {
        List<String> done = new ArrayList<>();
        steps.whenConnected(session, () -> done.add("done"));
        assertThat(done).isEmpty();
        session.begin();
        steps.onConnected();
        assertThat(done).hasSize(1);
        steps.become(Step.LISTING);
        steps.whenConnected(session, () -> done.add("again"));
        assertThat(done).hasSize(2);
        assertThat(steps.isIn(Step.LISTING)).isTrue();
    }
}
