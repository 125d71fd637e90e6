// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.node.HeldNodes;
import dev.zkrecipes.core.internal.node.Succession;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.spi.MutexDriver;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A loss, or an Error, at every point of a hand-over. */
class SuccessionTest {
    private final AcquireFixture fixture = new AcquireFixture();
    private final ManualScheduler scheduler = fixture.scheduler;
    private final List<HeldNode> taken = new ArrayList<>();
    private int over;

    private boolean somebodyWaits = true;
    private Runnable beforePassing = () -> {};
    private Runnable behindPassing = () -> {};
    private Predicate<Optional<List<HeldNode>>> taker = share -> taken.addAll(share.orElseThrow());
    private Succession line;
    private HeldNode first;

    private final Succession.Heirs heirs = new Succession.Heirs() {
        @Override
        public boolean inherit(Succession passing) {
            beforePassing.run();
            if (somebodyWaits) {
                passing.passTo(taker);
                behindPassing.run();
            }
            return somebodyWaits;
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
        scheduler.run();
        LockGroup group = LockGroup.of(fixture.spec(new MutexDriver(), LockOptions.defaults()));
        new AcquireLoop(fixture.engine.requests(), group, Mode.QUEUE, (held, rule) -> {
                    first = held;
                    line = new Succession(held, 2, heirs);
                })
                .launch();
        scheduler.run();
    }

    private void release(HeldNode held) {
        HeldNodes.release(List.of(held));
    }

    private void assertOver() {
        scheduler.run();
        assertThat(over).isEqualTo(1);
        assertThat(first.gone()).isCompleted();
        fixture.assertLeftNothing();
    }

    @Test
    void lossBeforeTheNextIsMade_reachesNobody() {
        beforePassing = () -> first.lose("deleted");
        release(first);
        assertThat(taken).isEmpty();
        assertThat(first.state()).isEqualTo(LeaseState.RELEASED);
        assertOver();
    }

    @Test
    void lossWhileTheNextTakesIt_isTheNextOnes() {
        taker = share -> {
            first.lose("deleted");
            return taken.addAll(share.orElseThrow());
        };
        release(first);
        assertThat(taken).singleElement().matches(next -> next.state() == LeaseState.LOST);
        release(taken.get(0));
        assertOver();
    }

    @Test
    void lossAfterIt_isTheNextOnes() {
        release(first);
        assertThat(taken.get(0).state()).isEqualTo(LeaseState.HELD);
        first.lose("deleted");
        assertThat(taken.get(0).state()).isEqualTo(LeaseState.LOST);
        assertOver();
    }

    @Test
    void untakenNode_isOfferedToANewcomer_withTheSameToken() {
        taker = share -> {
            taker = next -> taken.addAll(next.orElseThrow());
            return false;
        };
        release(first);
        assertThat(taken).singleElement().matches(next -> next.token() == first.token() + 1);
        assertThat(first.gone()).isCompleted();
    }

    @Test
    void untakenNode_isDeleted_andTheReleaseCompletes() {
        taker = share -> {
            somebodyWaits = false;
            return false;
        };
        release(first);
        assertThat(first.gone()).isNotDone();
        assertOver();
    }

    @Test
    void errorWhileItIsPassedOn_givesTheNodeBack() {
        beforePassing = () -> {
            throw new OutOfMemoryError("played");
        };
        assertThatThrownBy(() -> release(first)).isInstanceOf(OutOfMemoryError.class);
        assertOver();
    }

    @Test
    void errorBehindTheHandOver_leavesTheNodeToItsHolder() {
        behindPassing = () -> {
            throw new OutOfMemoryError("played");
        };
        assertThatThrownBy(() -> release(first)).isInstanceOf(OutOfMemoryError.class);
        scheduler.run();
        assertThat(over).isZero();
        assertThat(taken).singleElement().matches(next -> next.state() == LeaseState.HELD);
        assertThat(first.gone()).isCompleted();
        behindPassing = () -> {};
        somebodyWaits = false;
        release(taken.get(0));
        assertOver();
    }

    @Test
    void errorOfTheOneThatTakesIt_losesIt() {
        taker = share -> {
            taken.addAll(share.orElseThrow());
            throw new OutOfMemoryError("played");
        };
        assertThatThrownBy(() -> release(first)).isInstanceOf(OutOfMemoryError.class);
        assertThat(taken).singleElement().matches(next -> next.state() == LeaseState.LOST);
        assertOver();
    }

    @Test
    void errorBehindARequestThatDidNotTakeIt_givesTheNodeBack() {
        first.attach((node, how) -> {});
        taker = share -> {
            somebodyWaits = false;
            scheduler.refuseNextTask();
            return false;
        };
        assertThatThrownBy(() -> release(first)).isInstanceOf(InternalError.class);
        assertOver();
    }

    @Test
    void bound_isKept() {
        release(first);
        release(taken.get(0));
        assertThat(taken).hasSize(2);
        release(taken.get(1));
        assertThat(taken).hasSize(2);
        assertOver();
    }
}
