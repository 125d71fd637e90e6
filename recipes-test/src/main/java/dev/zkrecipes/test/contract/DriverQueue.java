// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.FifoDriver;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A queue of requests for one lock. The suite makes the driver of the last request decide on this request behind every
 * subset of the nodes in front of it.
 */
final class DriverQueue {
    private final List<LockDriver> drivers;
    private final List<LockNode> nodes;
    private final List<List<LockNode>> elsewhere; // for each request, what its node would be at each place

    /**
     * A subset of the nodes in front of the last one.
     *
     * @param choice the chosen places, one bit for each
     * @param nodes the chosen nodes, in order
     */
    record Part(int choice, List<LockNode> nodes) {
        boolean contains(int other) {
            return (other & ~choice) == 0;
        }
    }

    private DriverQueue(List<LockDriver> drivers, List<LockNode> nodes, List<List<LockNode>> elsewhere) {
        this.drivers = drivers;
        this.nodes = nodes;
        this.elsewhere = elsewhere;
    }

    /**
     * Returns all queues of one length. Leaves out queues with a name that its driver cannot parse; a separate rule of
     * the contract covers them.
     *
     * @param rising whether the ids increase with the numbers; otherwise they decrease
     */
    static Stream<DriverQueue> all(List<LockDriver> drivers, int length, boolean rising) {
        List<List<LockNode>> read = drivers.stream()
                .map(driver -> IntStream.rangeClosed(1, length)
                        .mapToObj(place -> name(driver.nodeName(), rising ? place : 0xabcdef - place, place))
                        .flatMap(name -> driver.parse(name).stream())
                        .toList())
                .toList();
        int count = (int) Math.pow(drivers.size(), length);
        return IntStream.range(0, count).boxed().flatMap(queue -> {
            List<LockDriver> asking = new ArrayList<>();
            List<LockNode> nodes = new ArrayList<>();
            List<List<LockNode>> elsewhere = new ArrayList<>();
            int choices = queue;
            for (int place = 0; place < length; place++, choices /= drivers.size()) {
                int choice = choices % drivers.size();
                if (read.get(choice).size() < length) {
                    return Stream.of();
                }
                asking.add(drivers.get(choice));
                nodes.add(read.get(choice).get(place));
                elsewhere.add(read.get(choice));
            }
            return Stream.of(new DriverQueue(asking, nodes, elsewhere));
        });
    }

    /** Returns the name that ZooKeeper would give to a node, with a chosen id. */
    static String name(String nodeName, int id, int number) {
        return String.format("%032x-%s%010d", id, nodeName, number);
    }

    /** Returns the kind of the driver's own nodes, as the driver parses it; empty if it does not recognise them. */
    static String kind(LockDriver driver) {
        return driver.parse(name(driver.nodeName(), 1, 1)).map(LockNode::kind).orElse("");
    }

    static boolean isGrant(Optional<Decision> answer) {
        return answer.orElse(null) instanceof Decision.Granted;
    }

    static boolean isRefusal(Optional<Decision> answer) {
        return answer.orElse(null) instanceof Decision.Never;
    }

    List<LockNode> nodes() {
        return nodes;
    }

    LockDriver driver() {
        return drivers.get(drivers.size() - 1);
    }

    LockNode self() {
        return nodes.get(nodes.size() - 1);
    }

    /** Returns all subsets of the nodes in front, each at the index of its choice. */
    List<Part> parts() {
        return IntStream.range(0, 1 << (nodes.size() - 1)).mapToObj(this::part).toList();
    }

    Part part(int choice) {
        return new Part(
                choice,
                IntStream.range(0, nodes.size() - 1)
                        .filter(i -> (choice >> i & 1) == 1)
                        .mapToObj(nodes::get)
                        .toList());
    }

    Part whole() {
        return new Part((1 << (nodes.size() - 1)) - 1, nodes.subList(0, nodes.size() - 1));
    }

    /** Returns the choice of the subset that consists of these nodes. Ignores nodes that are not in front. */
    int choice(List<LockNode> some) {
        return some.stream()
                .mapToInt(nodes::indexOf)
                .filter(i -> i >= 0 && i < nodes.size() - 1)
                .map(i -> 1 << i)
                .sum();
    }

    /** Whether each request is granted behind all nodes in front of it. */
    boolean isGrantedThroughout() {
        return beginnings(nodes.size()).allMatch(queue -> isGrant(queue.answer(queue.whole())));
    }

    /**
     * Returns the waiting nodes in front of the last one; empty if one of the nodes in front is refused, because such a
     * node does not stay.
     */
    Optional<List<LockNode>> waitingInFront() {
        List<DriverQueue> all = beginnings(nodes.size() - 1).toList();
        return all.stream().anyMatch(queue -> isRefusal(queue.answer(queue.whole())))
                ? Optional.empty()
                : Optional.of(all.stream()
                        .filter(queue -> !isGrant(queue.answer(queue.whole())))
                        .map(DriverQueue::self)
                        .toList());
    }

    /** Returns this queue as it was after its first request had arrived, after the second, and so on. */
    private Stream<DriverQueue> beginnings(int longest) {
        return IntStream.rangeClosed(1, longest)
                .mapToObj(size ->
                        new DriverQueue(drivers.subList(0, size), nodes.subList(0, size), elsewhere.subList(0, size)));
    }

    /** Whether all drivers declare that no request is granted before those in front of it. */
    boolean isServedInOrder() {
        return drivers.stream().allMatch(FifoDriver.class::isInstance);
    }

    Decision decide(Part part) {
        return driver().decide(List.copyOf(part.nodes()), self());
    }

    /** Returns the driver's answer; empty if there is none, which a separate rule of the contract covers. */
    Optional<Decision> answer(Part part) {
        return answer(driver(), part);
    }

    private Optional<Decision> answer(LockDriver asked, Part part) {
        try {
            return Optional.ofNullable(asked.decide(List.copyOf(part.nodes()), self()));
        } catch (RuntimeException e) {
            return Optional.empty();
        }
    }

    Outcome outcome(Part part) {
        return outcome(driver(), part);
    }

    Outcome outcome(LockDriver asked, Part part) {
        Decision answer = answer(asked, part).orElse(null);
        return new Outcome(
                answer == null ? "no answer" : answer.getClass().getSimpleName(),
                answer instanceof Decision.WaitFor wait
                        ? wait.nodes().stream().map(LockNode::number).sorted().toList()
                        : List.of());
    }

    /**
     * Returns the driver's answer to the requests of this part as it would be without gaps between their numbers; in
     * the numbers of this queue.
     */
    Outcome outcomeWithoutGaps(Part part) {
        int last = nodes.size() - 1;
        int[] chosen = IntStream.range(0, nodes.size())
                .filter(i -> i == last || part.contains(1 << i))
                .toArray();
        List<LockNode> closedUp = IntStream.range(0, chosen.length)
                .mapToObj(i -> elsewhere.get(chosen[i]).get(i))
                .toList();
        DriverQueue queue = new DriverQueue(List.of(driver()), closedUp, List.of());
        Outcome outcome = queue.outcome(queue.whole());
        return new Outcome(
                outcome.kind,
                outcome.waitsFor.stream()
                        .map(number -> number > 0 && number <= chosen.length
                                ? nodes.get(chosen[number.intValue() - 1]).number()
                                : number)
                        .toList());
    }

    /** An answer reduced to its kind and numbers, to compare answers to queues that differ in their ids. */
    record Outcome(String kind, List<Long> waitsFor) {
        @Override
        public String toString() {
            return kind + (waitsFor.isEmpty() ? "" : waitsFor);
        }
    }

    /** Returns the question put to a driver, as failure messages name it: the node, behind the nodes of this part. */
    String about(Part part) {
        return shown(self()) + " behind " + shown(part.nodes());
    }

    static List<String> shown(List<LockNode> some) {
        return some.stream().map(DriverQueue::shown).toList();
    }

    /** Returns the name without the id: kind, payload and number. */
    private static String shown(LockNode node) {
        return node.kind() + node.payload() + "(" + node.number() + ")";
    }
}
