// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.FifoDriver;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.SharedRuleDriver;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What many held permits cost those that pass them on, and that none of them is counted on for too long. */
class LocalQueueCostTest extends LocalQueueScene {
    private static final LockOptions MANY = LockOptions.defaults().localHandoffs(2047);

    private final AtomicInteger looks = new AtomicInteger();

    /** Permits that are served in order; counts the nodes that it looks at. */
    private record Counting(int limit, AtomicInteger looks) implements SharedRuleDriver, FifoDriver {
        @Override
        public String nodeName() {
            return "lock-";
        }

        @Override
        public byte[] initialRule() {
            return new byte[] {1};
        }

        @Override
        public LockDriver under(byte[] rule) {
            return this;
        }

        @Override
        public Optional<LockNode> parse(String childName) {
            looks.incrementAndGet();
            return LockNode.parse(childName, "lock-");
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            looks.addAndGet(1 + predecessors.size());
            return predecessors.size() < limit ? Decision.granted() : Decision.waitFor(predecessors);
        }
    }

    private List<Acquisition> queueing(int count, LockDriver driver, LockOptions options) {
        scheduler.run();
        List<Acquisition> all = Stream.generate(() -> launched(Mode.QUEUE, false, driver, options))
                .limit(count)
                .toList();
        scheduler.run();
        operations.requests();
        return new ArrayList<>(all);
    }

    @Test
    void handOver_costsTheSame_howeverManyPermitsAreHeld() {
        int limit = 200;
        int handOvers = 100;
        Counting driver = new Counting(limit, looks);
        List<Acquisition> all = queueing(limit + 10, driver, MANY);
        looks.set(0);
        for (int i = 0; i < handOvers; i++) {
            release(granted(all.get(i)));
            scheduler.run();
            granted(all.get(limit + i));
            all.addAll(queueing(1, driver, MANY));
            assertThat(queueing(1, driver, MANY).get(0).giveUp()).isTrue();
            scheduler.run();
        }
        assertThat(looks).hasValueLessThan(10 * handOvers);
        assertThat(fixture.ours()).as("no node but those that hold").hasSize(limit);
    }

    @Test
    void lostPermit_isNotCountedOn() {
        List<Acquisition> all = queueing(3, new Counting(2, looks), OPTIONS);
        granted(all.get(0)).lose("deleted");
        scheduler.run();
        release(granted(all.get(1)));
        release(granted(all.get(2)));
        assertLeftNothing();
    }

    @Test
    void permitThatIsGivenBack_isNotCountedOn() {
        List<Acquisition> all = queueing(3, new Counting(2, looks), OPTIONS);
        HeldNode held = granted(all.get(0));
        release(held); // to be passed on by the engine
        held.noteRequests(true);
        scheduler.run();
        release(granted(all.get(1)));
        release(granted(all.get(2)));
        assertLeftNothing();
    }
}
