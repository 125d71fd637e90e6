// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.FifoDriver;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.SharedRuleDriver;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which nodes hold is found out by few questions, and is what asking about each of them would tell. */
class HoldingNodesTest {
    private static final LockOptions OPTIONS = LockOptions.defaults();

    /** A semaphore that serves in order; a node asks for as many permits as its payload says. */
    private record Fifo(int limit, AtomicInteger looks) implements FifoDriver {
        @Override
        public String nodeName() {
            return "permits.1-";
        }

        @Override
        public Optional<LockNode> parse(String childName) {
            return LockNode.parseWithPayload(childName, "permits.");
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            looks.incrementAndGet();
            int sum = permits(self);
            if (sum > limit) {
                return Decision.never("of the limit");
            }
            for (int i = predecessors.size() - 1; i >= 0; i--) {
                looks.incrementAndGet();
                sum += permits(predecessors.get(i));
                if (sum > limit) {
                    return Decision.waitFor(predecessors.subList(i, predecessors.size()));
                }
            }
            return Decision.granted();
        }

        private static int permits(LockNode node) {
            return Integer.parseInt(node.payload());
        }
    }

    /** The same without a promise to serve in order. */
    private record Unordered(Fifo fifo) implements LockDriver {
        @Override
        public String nodeName() {
            return fifo.nodeName();
        }

        @Override
        public Optional<LockNode> parse(String childName) {
            return fifo.parse(childName);
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            return fifo.decide(predecessors, self);
        }
    }

    /** The same with a limit that may have been another one. */
    private record Shared(Fifo fifo) implements SharedRuleDriver, FifoDriver {
        @Override
        public String nodeName() {
            return fifo.nodeName();
        }

        @Override
        public byte[] initialRule() {
            return new byte[1];
        }

        @Override
        public LockDriver under(byte[] rule) {
            return fifo;
        }

        @Override
        public Optional<LockNode> parse(String childName) {
            return fifo.parse(childName);
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            return fifo.decide(predecessors, self);
        }
    }

    private final AtomicInteger looks = new AtomicInteger();

    private static LockSpec spec(LockDriver driver) {
        return new LockSpec(new ArrayList<>(ZooDefs.Ids.OPEN_ACL_UNSAFE), "/locks/orders", driver, OPTIONS);
    }

    private static LockNode node(int id, int permits, long number) {
        String name = HexFormat.of().toHexDigits(id).repeat(4) + String.format("-permits.%d-%010d", permits, number);
        return LockNode.parseWithPayload(name, "permits.").orElseThrow();
    }

    private static Set<LockNode> find(LockSpec spec, LockDriver ruling, List<LockNode> nodes) {
        return new LockQueue(spec, ruling, nodes).holding();
    }

    @Test
    void eachNodeIsLookedAtAFewTimes_howeverManyHold() {
        Fifo driver = new Fifo(5_000, looks);
        List<LockNode> nodes =
                IntStream.range(0, 10_000).mapToObj(i -> node(i, 1, i)).toList();
        for (LockDriver each : List.of(driver, new Shared(driver))) {
            looks.set(0);
            assertThat(find(spec(each), driver, nodes)).hasSize(5_000);
            assertThat(looks).hasValueLessThan(20 * nodes.size());
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void aFifoDrivers_areThoseThatAskingAboutEachWouldTell(long seed) {
        Random random = new Random(seed);
        for (int round = 0; round < 500; round++) {
            List<LockNode> nodes = randomNodes(random);
            Fifo driver = new Fifo(random.nextInt(1, 8), looks);
            for (LockSpec each : List.of(spec(driver), spec(new Shared(driver)))) {
                assertThat(find(each, driver, nodes))
                        .as("limit %d, %s", driver.limit(), nodes)
                        .isEqualTo(oneByOne(each, driver, nodes));
            }
        }
    }

    @Test
    void driverThatServesInNoOrder_isAskedAboutEach() {
        Unordered driver = new Unordered(new Fifo(2, looks));
        List<LockNode> nodes = List.of(node(1, 1, 1), node(2, 1, 2), node(3, 1, 3), node(4, 1, 4));
        assertThat(find(spec(driver), driver, nodes)).containsExactlyInAnyOrder(nodes.get(0), nodes.get(1));
    }

    @Test
    void nodeLetInUnderALargerLimit_holdsBehindWaitingOnes() {
        Fifo driver = new Fifo(2, looks);
        List<LockNode> nodes = List.of(node(1, 2, 1), node(2, 1, 2), node(3, 1, 3), node(4, 3, 4));
        assertThat(find(spec(new Shared(driver)), driver, nodes)).containsExactlyInAnyOrder(nodes.get(0), nodes.get(3));
        assertThat(find(spec(driver), driver, nodes)).containsExactly(nodes.get(0));
    }

    /** In order, some of equal number, some with a number that ZooKeeper's counter never has. */
    private static List<LockNode> randomNodes(Random random) {
        List<LockNode> nodes = new ArrayList<>();
        int count = random.nextInt(12);
        long number = 0;
        for (int id = 0; id < count; id++) {
            number += random.nextInt(4) == 0 ? 0 : 1;
            boolean isOrdinary = random.nextInt(12) > 0;
            nodes.add(node(id, random.nextInt(1, 5), isOrdinary ? number : Integer.MAX_VALUE));
        }
        nodes.sort(null);
        return nodes;
    }

    private static Set<LockNode> oneByOne(LockSpec spec, LockDriver driver, List<LockNode> nodes) {
        return nodes.stream()
                .filter(LockNode::hasOrdinaryNumber)
                .filter(self -> {
                    List<LockNode> inFront = nodes.stream()
                            .filter(other -> other.compareTo(self) < 0 && other.number() != self.number())
                            .toList();
                    Decision decision = driver.decide(inFront, self);
                    return decision instanceof Decision.Granted
                            || (decision instanceof Decision.Never && spec.hasSharedRule());
                })
                .collect(Collectors.toSet());
    }
}
