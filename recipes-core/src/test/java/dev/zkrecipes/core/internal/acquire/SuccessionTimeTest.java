// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.node.HeldNodes;
import dev.zkrecipes.core.internal.node.Succession;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.spi.MutexDriver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The time of each holder of a node that passes on inside the process. */
class SuccessionTimeTest {
    private static final Duration MOST = Duration.ofMillis(400);
    private static final Duration HALF = MOST.dividedBy(2);

    private final AcquireFixture fixture = new AcquireFixture();
    private final List<HeldNode> taken = new ArrayList<>();
    private int over;
    private boolean somebodyWaits = true;
    private boolean somebodyTakes = true;
    private HeldNode first;

    private final Succession.Heirs heirs = new Succession.Heirs() {
        @Override
        public boolean inherit(Succession passing) {
            boolean passes = somebodyWaits;
            if (passes) {
                somebodyWaits = somebodyTakes;
                passing.passTo(share -> somebodyTakes && taken.addAll(share.orElseThrow()));
            }
            return passes;
        }

        @Override
        public void onEnding() {}

        @Override
        public void onOver(Succession ended) {
            over++;
        }
    };

    @BeforeEach
    void acquire() {
        fixture.scheduler.run();
        LockOptions options = LockOptions.defaults().holdAtMost(MOST);
        LockGroup group = LockGroup.of(fixture.spec(new MutexDriver(), options));
        new AcquireLoop(fixture.engine.requests(), group, Mode.QUEUE, (held, rule) -> {
                    first = held;
                    new Succession(held, 2, heirs);
                })
                .launch();
        fixture.scheduler.run();
    }

    private void release(HeldNode held) {
        HeldNodes.release(List.of(held));
        fixture.scheduler.run();
    }

    private HeldNode next() {
        return taken.get(taken.size() - 1);
    }

    @Test
    void nextHolder_hasAFreshTime() {
        fixture.scheduler.advance(HALF);
        release(first);
        fixture.scheduler.advance(HALF); // that of the first would be over
        assertThat(next().state()).isEqualTo(LeaseState.HELD);
        assertThat(first.state()).isEqualTo(LeaseState.RELEASED);
        fixture.scheduler.advance(HALF);
        assertThat(next().state()).isEqualTo(LeaseState.LOST);
        assertThat(over).isEqualTo(1);
        fixture.assertLeftNothing();
    }

    @Test
    void limitOfAnEarlierHolder_doesNotEndTheNextHold_evenIfTheEngineIsLate() {
        fixture.scheduler.stop(MOST.minusMillis(1));
        HeldNodes.release(List.of(first)); // passed on by this thread, while the engine does nothing
        fixture.scheduler.stop(Duration.ofMillis(1));
        fixture.scheduler.run();
        assertThat(first.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(next().state()).isEqualTo(LeaseState.HELD);
    }

    @Test
    void expiredHolder_passesNothingOn() {
        fixture.scheduler.stop(MOST);
        assertThat(first.isLost()).isTrue();
        release(first);
        assertThat(taken).isEmpty();
        assertThat(first.state()).isEqualTo(LeaseState.LOST);
        assertThat(over).isEqualTo(1);
        fixture.assertLeftNothing();
    }

    @Test
    void lastHolder_leavesNoTimer() {
        int before = fixture.scheduler.timers();
        somebodyWaits = false;
        release(first);
        assertThat(fixture.scheduler.timers()).isLessThan(before);
    }

    @Test
    void nodeThatIsLostWhileTheNextHoldersTimerIsSet_leavesNoTimer() {
        int before = fixture.scheduler.timers();
        fixture.scheduler.uponNextTimer(() -> {
            first.lose("deleted");
            fixture.scheduler.run();
        });
        release(first);
        assertThat(over).isEqualTo(1);
        assertThat(fixture.scheduler.timers()).isLessThan(before);
    }

    @Test
    void requestThatEndsBeforeItTakesTheNode_leavesNoTimer() {
        int before = fixture.scheduler.timers();
        somebodyTakes = false;
        release(first);
        assertThat(taken).isEmpty();
        assertThat(fixture.scheduler.timers()).isLessThan(before);
        assertThat(first.gone()).isDone();
        fixture.assertLeftNothing();
    }

    @Test
    void nextHolder_whoseTimeIsOverBeforeItHasTheNode_ends() {
        fixture.scheduler.uponNextTimer(
                () -> fixture.scheduler.stop(MOST)); // the thread that passes the node on stands
        release(first);
        assertThat(next().state()).isEqualTo(LeaseState.LOST);
        assertThat(next().gone()).isDone();
        assertThat(over).isEqualTo(1);
        fixture.assertLeftNothing();
    }
}
