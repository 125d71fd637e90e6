// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

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
 *
 * <pre>{@code
 * DriverLaws.queues(driver, "group.", List.of("a", "b"), 6).forEach(queue -> DriverLaws.check(driver, queue));
 * }</pre>
 */
public final class DriverLaws {
    private DriverLaws() {}

    /**
     * All queues of this length of requests with these payloads, numbered from 1.
     *
     * @param reader reads the names
     * @param kind the kind of all, with the dot
     * @param payloads what a request may carry
     * @param length how many requests stand in each queue
     * @return the queues
     */
    public static Stream<List<LockNode>> queues(LockDriver reader, String kind, List<String> payloads, int length) {
        return queues(
                reader, payloads.stream().map(payload -> kind + payload + "-").toList(), length);
    }

    /**
     * All queues of this length of requests whose names, without id and number, are these; numbered from 1.
     *
     * @param reader reads the names
     * @param nodeNames as {@link LockDriver#nodeName()} writes them
     * @param length how many requests stand in each queue
     * @return the queues
     */
    public static Stream<List<LockNode>> queues(LockDriver reader, List<String> nodeNames, int length) {
        int count = (int) Math.pow(nodeNames.size(), length);
        return IntStream.range(0, count)
                .mapToObj(queue -> IntStream.rangeClosed(1, length)
                        .mapToObj(place -> {
                            int choice = queue / (int) Math.pow(nodeNames.size(), place - 1) % nodeNames.size();
                            return node(reader, nodeNames.get(choice), place);
                        })
                        .toList());
    }

    /**
     * What the driver makes of the name that ZooKeeper would give to a node; the ids fall as the numbers rise.
     *
     * @param reader reads the name
     * @param nodeName as {@link LockDriver#nodeName()} writes it
     * @param number the number
     * @return the node
     */
    public static LockNode node(LockDriver reader, String nodeName, int number) {
        return reader.parse(String.format("%032x-%s%010d", 0xabcdef - number, nodeName, number))
                .orElseThrow();
    }

    /**
     * Checks the last node of the queue against every part of what stands in front of it.
     *
     * @param driver decides
     * @param queue the nodes in order
     * @throws AssertionError if a law is broken
     */
    public static void check(LockDriver driver, List<LockNode> queue) {
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

    /**
     * Checks that the last node of the queue holds exactly if it conflicts with nobody, and who it waits for if not.
     *
     * @param driver decides
     * @param queue the nodes in order
     * @param conflict whether a node in front and the last one may not hold together
     * @throws AssertionError if the driver decides otherwise
     */
    public static void checkNearest(LockDriver driver, List<LockNode> queue, BiPredicate<LockNode, LockNode> conflict) {
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

    /**
     * Every part of the queue, in order.
     *
     * @param queue the nodes in order
     * @return its parts, the empty one and the whole among them
     */
    public static List<List<LockNode>> parts(List<LockNode> queue) {
        return IntStream.range(0, 1 << queue.size())
                .mapToObj(choice -> IntStream.range(0, queue.size())
                        .filter(i -> (choice >> i & 1) == 1)
                        .mapToObj(queue::get)
                        .toList())
                .toList();
    }
}
