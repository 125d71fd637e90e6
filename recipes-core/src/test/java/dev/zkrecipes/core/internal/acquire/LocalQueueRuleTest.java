// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.FifoDriver;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.SharedRuleDriver;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Permits that pass on, under a limit that may change. */
class LocalQueueRuleTest extends LocalQueueScene {
    /** Serves in order, by the limit that the path had when it was listed. */
    private record OrderedLimit(LimitDriver limit) implements SharedRuleDriver, FifoDriver {
        @Override
        public String nodeName() {
            return limit.nodeName();
        }

        @Override
        public byte[] initialRule() {
            return limit.initialRule();
        }

        @Override
        public LockDriver under(byte[] rule) {
            return limit.under(rule);
        }

        @Override
        public Optional<LockNode> parse(String childName) {
            return limit.parse(childName);
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            return limit.decide(predecessors, self);
        }
    }

    private List<Acquisition> limited(int count, AtomicInteger limit) {
        scheduler.run();
        LockDriver driver = new OrderedLimit(new LimitDriver(limit));
        List<Acquisition> all = Stream.generate(() -> launched(Mode.QUEUE, false, driver, OPTIONS))
                .limit(count)
                .toList();
        scheduler.run();
        operations.requests();
        return all;
    }

    @Test
    void semaphore_hasANodeForEachHolder_andOneMoreOnlyWhileNeeded() {
        List<Acquisition> all = limited(2, new AtomicInteger(2));
        assertThat(fixture.ours()).hasSize(2);
        assertThat(granted(all.get(0)).nodePath())
                .isNotEqualTo(granted(all.get(1)).nodePath());
    }

    @Test
    void permit_passesOn() {
        List<Acquisition> all = limited(4, new AtomicInteger(2));
        HeldNode second = granted(all.get(1));
        release(second);
        scheduler.run();
        assertThat(granted(all.get(2)).nodePath()).isEqualTo(second.nodePath());
        release(granted(all.get(2)));
        release(granted(all.get(0)));
        scheduler.run();
        release(granted(all.get(3)));
        assertLeftNothing();
    }

    @Test
    void permitGrantedUnderAnOldLimit_isNotPassedOn() {
        AtomicInteger limit = new AtomicInteger(2);
        List<Acquisition> all = limited(3, limit);
        limit.set(1);
        operations.change("orders");
        scheduler.run();
        release(granted(all.get(0)));
        scheduler.run();
        assertThat(all.get(2).outcome()).isNotDone();
        release(granted(all.get(1)));
        scheduler.run();
        release(granted(all.get(2)));
        assertLeftNothing();
    }

    @Test
    void permit_isNotPassedOnWhileTheLimitIsBeingRead() {
        AtomicInteger limit = new AtomicInteger(2);
        List<Acquisition> all = limited(3, limit);
        operations.delayAnswerOf(Request.WATCH, Duration.ofSeconds(1));
        operations.change("orders");
        scheduler.run();
        HeldNode held = granted(all.get(0));
        release(held);
        scheduler.run();
        assertThat(operations.deleted()).containsExactly(LockPath.name(held.nodePath()));
    }

    @Test
    void higherLimit_letsWaitersIn() {
        AtomicInteger limit = new AtomicInteger(1);
        List<Acquisition> all = limited(3, limit);
        limit.set(3);
        operations.change("orders");
        scheduler.advance(Duration.ofSeconds(1));
        all.forEach(LocalQueueScene::granted);
    }

    @Test
    void higherLimit_letsInWhoWaitsForAPermitToPassOn() {
        AtomicInteger limit = new AtomicInteger(1);
        assertThat(limited(2, limit).get(1).giveUp()).isTrue(); // the limit has been read for it
        List<Acquisition> late = limited(1, limit);
        assertThat(fixture.ours()).hasSize(1);
        limit.set(2);
        operations.change("orders");
        scheduler.advance(Duration.ofSeconds(1));
        granted(late.get(0));
    }
}
