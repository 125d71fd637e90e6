// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import java.util.List;
import java.util.function.BiPredicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The two laws of {@link LockDriver}, over every part of a queue. That is exhaustive only over the queues that it is
 * asked about: ask about all short ones.
 */
final class DriverLaws {
    private DriverLaws() {}

    /** All queues of this length of requests with these payloads, numbered from 1. */
    static Stream<List<LockNode>> queues(LockDriver reader, String kind, List<String> payloads, int length) {
        int count = (int) Math.pow(payloads.size(), length);
        return IntStream.range(0, count)
                .mapToObj(queue -> IntStream.rangeClosed(1, length)
                        .mapToObj(place -> {
                            int payload = queue / (int) Math.pow(payloads.size(), place - 1) % payloads.size();
                            return node(reader, kind + payloads.get(payload) + "-", place);
                        })
                        .toList());
    }

    /** What the driver makes of the name that ZooKeeper would give to a node; the ids fall as the numbers rise. */
    static LockNode node(LockDriver reader, String nodeName, int number) {
        return reader.parse(String.format("%032x-%s%010d", 0xabcdef - number, nodeName, number))
                .orElseThrow();
    }

    /** Checks the last node of the queue against every part of what stands in front of it. */
    static void check(LockDriver driver, List<LockNode> queue) {
        LockNode self = queue.get(queue.size() - 1);
        List<List<LockNode>> parts = parts(queue.subList(0, queue.size() - 1));
        for (List<LockNode> part : parts) {
            Decision decision = driver.decide(part, self);
            for (List<LockNode> other : parts) {
                boolean granted = driver.decide(other, self) instanceof Decision.Granted;
                if (decision instanceof Decision.Granted && part.containsAll(other)) {
                    assertThat(granted)
                            .as("law 1: %s is granted behind %s, so behind %s", self, part, other)
                            .isTrue();
                } else if (decision instanceof Decision.WaitFor wait && other.containsAll(wait.nodes())) {
                    assertThat(granted)
                            .as("law 2: %s waits for %s, so it is not granted behind %s", self, wait.nodes(), other)
                            .isFalse();
                }
            }
        }
    }

    /** Checks that the last node of the queue holds exactly if it conflicts with nobody, and who it waits for if not. */
    static void checkNearest(LockDriver driver, List<LockNode> queue, BiPredicate<LockNode, LockNode> conflict) {
        LockNode self = queue.get(queue.size() - 1);
        for (List<LockNode> part : parts(queue.subList(0, queue.size() - 1))) {
            Decision expected = part.stream()
                    .filter(node -> conflict.test(node, self))
                    .reduce((far, near) -> near)
                    .map(Decision::waitFor)
                    .orElse(Decision.granted());
            assertThat(driver.decide(part, self)).as("%s behind %s", self, part).isEqualTo(expected);
        }
    }

    /** Every part of the queue, in order. */
    private static List<List<LockNode>> parts(List<LockNode> queue) {
        return IntStream.range(0, 1 << queue.size())
                .mapToObj(choice -> IntStream.range(0, queue.size())
                        .filter(i -> (choice >> i & 1) == 1)
                        .mapToObj(queue::get)
                        .toList())
                .toList();
    }
}
