// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.FifoDriver;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.SharedRuleDriver;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The rules for every {@link LockDriver}. The suite plays every short queue of the requests that a lock can have,
 * without a server. It checks the laws, and the rule of the lock as its author states it.
 *
 * <pre>{@code
 * class GroupDriverTest extends LockDriverContract {
 *     @Override
 *     protected List<LockDriver> drivers() {
 *         return List.of(new Driver("red"), new Driver("green"), new Driver(""));
 *     }
 *
 *     @Override
 *     protected boolean compatible(List<LockNode> holders) {
 *         return holders.stream().map(LockNode::payload).distinct().count() <= 1;
 *     }
 * }
 * }</pre>
 *
 * <p>The suite is exhaustive: it plays all queues of up to {@link #longest()} requests, where each request is any of
 * {@link #drivers()}, and every subset of a queue that may remain when others leave. A failure names the driver, the
 * request, and the nodes in front of it, for example {@code group.red(3) behind [group.green(1), group.red(2)]}: the
 * part of the node name that the driver defines, and the number of the node.
 *
 * <p>A subclass tests what its lock does beyond these rules, over {@link #queues()}: for which nodes a request waits so
 * that it rarely wakes, and which payloads are legal.
 */
public abstract class LockDriverContract extends NodeNameContract {
    private static final int LONGEST = 6;
    private static final int QUESTIONS = 1 << 18;

    /** Creates the suite; the test of a driver extends it. */
    protected LockDriverContract() {}

    /**
     * {@return the requests to mix in one queue, at least one, and the same in each call} Each request is a driver; all
     * of them are on one path and differ in what they request.
     */
    @Override
    protected abstract List<LockDriver> drivers();

    /**
     * States the rule of the lock.
     *
     * @param holders one or more nodes, in the order of the queue
     * @return whether all of them may hold the lock at the same time
     */
    protected abstract boolean compatible(List<LockNode> holders);

    /**
     * States whether a request waits its turn behind a waiting request that it would not delay. This is so in a lock
     * that serves all requests in order, or all requests of one kind.
     *
     * @param waiting a node that waits
     * @param self a node behind it
     * @return true if {@code self} waits its turn; by default, whether all drivers are a {@link FifoDriver}
     */
    protected boolean waitsItsTurn(LockNode waiting, LockNode self) {
        return drivers().stream().allMatch(FifoDriver.class::isInstance);
    }

    /**
     * States whether a thread that holds the lock by one driver may re-enter by another one. The drivers may then be
     * equal.
     *
     * @param held the driver of a request that was granted
     * @param other the driver of another request
     * @return true if the drivers may be equal; by default, whether their requests have the same name. A lock whose
     *     threads never re-enter may return true
     */
    protected boolean isOneRule(LockDriver held, LockDriver other) {
        return held.nodeName().equals(other.nodeName());
    }

    /**
     * {@return the length of the longest queues} By default it is as long as the suite can play in well under a
     * second, 6 at most. An override must return 2 or more.
     */
    protected int longest() {
        int kinds = drivers().size();
        return IntStream.iterate(LONGEST, length -> length - 1)
                .filter(length -> length == 2 || Math.pow(kinds, length) * Math.pow(4, length - 1) <= QUESTIONS)
                .findFirst()
                .orElseThrow();
    }

    /** {@return all queues of {@link #longest()} nodes, each in order and numbered from 1, for further tests} */
    protected final Stream<List<LockNode>> queues() {
        return DriverQueue.all(drivers(), longest(), false).map(DriverQueue::nodes);
    }

    /**
     * Parses the name that ZooKeeper would give to a node of this request. Ids decrease as numbers increase, so that a
     * driver that orders by id fails.
     *
     * @param driver the driver that defines the name and parses it
     * @param number the sequence number
     * @return the node
     * @throws AssertionError if the driver does not recognise its own name
     */
    protected static LockNode node(LockDriver driver, int number) {
        String name = DriverQueue.name(driver.nodeName(), 0xabcdef - number, number);
        return driver.parse(name).orElseThrow(() -> new AssertionError(driver + " does not know " + name));
    }

    /**
     * Checks, over all queues, that a request waits for the nearest node with which it conflicts and for no other, so
     * that it wakes as rarely as possible. This is for locks in which two requests either conflict or not, whatever
     * other requests exist.
     *
     * @param conflict whether a node in front and the node to decide on may not hold the lock together
     * @throws AssertionError if the driver decides otherwise
     */
    protected final void assertEachWaitsForTheNearest(BiPredicate<LockNode, LockNode> conflict) {
        asked().forEach(queue -> queue.parts().forEach(part -> {
            Decision expected = part.nodes().stream()
                    .filter(node -> conflict.test(node, queue.self()))
                    .reduce((far, near) -> near)
                    .map(Decision::waitFor)
                    .orElse(Decision.granted());
            Optional<Decision> answer = queue.answer(part);
            require(
                    answer.equals(Optional.of(expected)),
                    () -> queue.about(part) + ": expected " + expected + ", answered " + answer);
        }));
    }

    /** Returns all queues, the shortest first, so that the first failure is the simplest one. */
    private Stream<DriverQueue> asked() {
        return asked(false);
    }

    private Stream<DriverQueue> asked(boolean risingIds) {
        return IntStream.rangeClosed(1, longest())
                .boxed()
                .flatMap(length -> DriverQueue.all(drivers(), length, risingIds));
    }

    /** Composes the message only for a violation, because there are many questions. */
    private static void require(boolean kept, Supplier<String> violation) {
        if (!kept) {
            throw new AssertionError(violation.get());
        }
    }

    // ---- Answers.

    /** A question without an answer makes the acquire fail. A {@code waitFor} without nodes throws. */
    @Test
    void everyQuestion_isAnswered() {
        asked().forEach(queue -> queue.parts().forEach(part -> {
            try {
                require(queue.decide(part) != null, () -> queue.about(part) + " has no answer: null");
            } catch (RuntimeException e) {
                throw new AssertionError(queue.about(part) + " has no answer: " + e, e);
            }
        }));
    }

    /**
     * The answer must not depend on other questions in between. A driver that has a memory or decides at random may
     * grant what it refused before, or forget a holder.
     */
    @Test
    void sameQuestion_hasTheSameAnswer() {
        asked().forEach(queue -> {
            List<DriverQueue.Part> parts = queue.parts();
            List<Optional<Decision>> first = parts.stream().map(queue::answer).toList();
            for (int i = first.size() - 1; i >= 0; i--) {
                DriverQueue.Part part = parts.get(i);
                assertThat(queue.answer(part))
                        .as("%s, asked again", queue.about(part))
                        .isEqualTo(first.get(i));
            }
        });
    }

    /** Only numbers order the queue; ids have no meaning. */
    @Test
    void answer_doesNotDependOnIds() {
        Iterator<DriverQueue> others = asked(true).iterator();
        asked().forEach(queue -> {
            DriverQueue other = others.next();
            for (DriverQueue.Part part : queue.parts()) {
                requireSame(queue, part, other.outcome(other.part(part.choice())), "with ids in another order");
            }
        });
    }

    /**
     * Requests leave in any order, which leaves gaps between the numbers: only their order has a meaning. A driver that
     * looks for its neighbours by their numbers may find none beside a gap, and grant. The rules of the lock, below,
     * are tested without gaps.
     */
    @Test
    void answer_doesNotDependOnGapsBetweenNumbers() {
        asked().forEach(queue -> queue.parts()
                .forEach(part ->
                        requireSame(queue, part, queue.outcomeWithoutGaps(part), "without gaps between the numbers")));
    }

    private static void requireSame(DriverQueue queue, DriverQueue.Part part, DriverQueue.Outcome other, String how) {
        DriverQueue.Outcome expected = queue.outcome(part);
        require(
                other.equals(expected),
                () -> queue.about(part) + ": the answer is " + expected + ", and " + how + " " + other);
    }

    /**
     * The name of a node contains everything about its request. To show the holders of a lock, one driver decides on
     * all nodes.
     */
    @Test
    void answer_doesNotDependOnTheDriverAsked() {
        asked().forEach(queue -> queue.parts().forEach(part -> {
            for (LockDriver other : drivers()) {
                requireSame(queue, part, queue.outcome(other, part), "asked of " + other);
            }
        }));
    }

    /** Otherwise the first user of a path would decide by a rule other than the one that the driver states. */
    @Test
    void initialSharedRule_decidesLikeTheDriver() {
        asked().filter(queue -> queue.driver() instanceof SharedRuleDriver)
                .forEach(queue -> queue.parts().forEach(part -> {
                    SharedRuleDriver shared = (SharedRuleDriver) queue.driver();
                    LockDriver initial = shared.under(shared.initialRule());
                    requireSame(queue, part, queue.outcome(initial, part), "under the initial rule");
                }));
    }

    /**
     * A thread re-enters by an equal driver, and asks nobody. If drivers of different requests are equal, it believes
     * to hold what it never requested. If drivers of one request are not, another lock object refuses it.
     */
    @Test
    void driver_isAValue() {
        List<LockDriver> first = drivers();
        List<LockDriver> again = drivers();
        for (int i = 0; i < first.size(); i++) {
            LockDriver driver = first.get(i);
            assertThat(again.get(i)).as("the same driver, made again").isEqualTo(driver);
            assertThat(again.get(i)).as("the same driver, made again").hasSameHashCodeAs(driver);
            for (LockDriver other : first) {
                if (!isOneRule(driver, other)) {
                    assertThat(other).as("the driver of another request").isNotEqualTo(driver);
                }
            }
        }
    }

    /** If a driver waits for any other node, the acquire fails. */
    @Test
    void wait_isOnlyForNodesInFront() {
        asked().forEach(queue -> queue.parts()
                .forEach(part -> queue.answer(part).ifPresent(answer -> {
                    if (answer instanceof Decision.WaitFor wait) {
                        require(
                                part.nodes().containsAll(wait.nodes()),
                                () -> queue.about(part) + " waits for " + DriverQueue.shown(wait.nodes()));
                    }
                })));
    }

    // ---- The laws.

    /** Otherwise a holder would keep a hold that the rule no longer allows. */
    @Test
    void law1_requestGrantedBehindSome_isGrantedBehindAnySubset() {
        requireBehindSubsets("law 1: granted", DriverQueue::isGrant);
    }

    private void requireBehindSubsets(String what, Predicate<Optional<Decision>> isSo) {
        asked().forEach(queue -> {
            List<DriverQueue.Part> parts = queue.parts();
            List<Optional<Decision>> answers = parts.stream().map(queue::answer).toList();
            for (DriverQueue.Part all : parts) {
                if (isSo.test(answers.get(all.choice()))) {
                    for (DriverQueue.Part some : parts) {
                        require(
                                !all.contains(some.choice()) || isSo.test(answers.get(some.choice())),
                                () -> what + " is " + queue.about(all) + ", but not " + queue.about(some));
                    }
                }
            }
        });
    }

    /** Otherwise a waiter would sleep on although the lock is free. */
    @Test
    void law2_waiter_isNotGrantedBeforeOneItWaitsForLeaves() {
        asked().forEach(queue -> {
            List<DriverQueue.Part> parts = queue.parts();
            List<Optional<Decision>> answers = parts.stream().map(queue::answer).toList();
            for (DriverQueue.Part part : parts) {
                if (answers.get(part.choice()).orElse(null) instanceof Decision.WaitFor wait) {
                    int watched = queue.choice(wait.nodes());
                    for (DriverQueue.Part other : parts) {
                        require(
                                !other.contains(watched) || !DriverQueue.isGrant(answers.get(other.choice())),
                                () -> "law 2: " + queue.about(part) + " waits for " + DriverQueue.shown(wait.nodes())
                                        + ", but granted is " + queue.about(other));
                    }
                }
            }
        });
    }

    /**
     * Otherwise a waiter would sleep on although the lock is free, because the engine decides only on the first
     * waiter of a process.
     */
    @Test
    void law4_requestGrantedByAFifoDriver_isBehindGrantedOnesOnly() {
        asked().filter(DriverQueue::isServedInOrder)
                .filter(queue -> DriverQueue.isGrant(queue.answer(queue.whole())))
                .forEach(queue -> require(
                        queue.isGrantedThroughout(),
                        () -> "law 4: granted is " + queue.about(queue.whole()) + ", though somebody in front is not"));
    }

    /** Nodes in front will leave, so they are a reason to wait and never a reason to refuse. */
    @Test
    void law5_requestRefusedBehindSome_isRefusedBehindAnySubset() {
        requireBehindSubsets("law 5: refused", DriverQueue::isRefusal);
    }

    // ---- The rule of the lock.

    /** Requests leave in any order, so by law 1 no other sets of requests can ever hold the lock together. */
    @Test
    void requestsGrantedInSuccession_areCompatible() {
        asked().filter(DriverQueue::isGrantedThroughout)
                .forEach(queue -> require(
                        compatible(queue.nodes()),
                        () -> "granted one after another, but not compatible, are "
                                + DriverQueue.shown(queue.nodes())));
    }

    /**
     * If a driver makes such a request wait, it waits for nothing. If a driver refuses it, it must also refuse it when
     * it is alone.
     */
    @Test
    void requestCompatibleWithAllInFront_isGranted_unlessNever() {
        asked().filter(queue -> compatible(queue.nodes()))
                .forEach(queue ->
                        requireGrant(queue, () -> "compatible are " + DriverQueue.shown(queue.nodes()) + ", but "));
    }

    /**
     * A waiting request holds nothing. A driver that counts it as a holder grants the lock to fewer requests than may
     * hold it. A request delays nobody if it is compatible with every set of requests in front of it that may ever hold
     * the lock together.
     */
    @Test
    void requestThatDelaysNobodyInFront_isGranted_unlessNever() {
        asked().filter(this::delaysNobody)
                .forEach(queue -> requireGrant(
                        queue,
                        () -> "whichever in front of the last may hold together, it may hold beside them: "
                                + DriverQueue.shown(queue.nodes())
                                + "; but (unless it waitsItsTurn, as behind a FifoDriver) "));
    }

    private boolean delaysNobody(DriverQueue queue) {
        return queue.waitingInFront()
                        .filter(waiting -> waiting.stream().noneMatch(node -> waitsItsTurn(node, queue.self())))
                        .isPresent()
                && queue.parts().stream()
                        .filter(part -> part.choice() != 0 && compatible(part.nodes()))
                        .allMatch(part -> compatible(Stream.concat(part.nodes().stream(), Stream.of(queue.self()))
                                .toList()));
    }

    private static void requireGrant(DriverQueue queue, Supplier<String> why) {
        Optional<Decision> answer = queue.answer(queue.whole());
        require(
                answer.isEmpty()
                        || DriverQueue.isGrant(answer)
                        || (DriverQueue.isRefusal(answer) && DriverQueue.isRefusal(queue.answer(queue.part(0)))),
                () -> why.get() + "the last one "
                        + (DriverQueue.isRefusal(answer) ? "is refused, though not when it is alone" : "waits"));
    }

    /**
     * A lone request that is told to wait waits forever. If all lone requests are refused, nobody ever holds the
     * lock.
     */
    @Test
    void loneRequest_isGranted_unlessNever() {
        List<Decision> answers = DriverQueue.all(drivers(), 1, false)
                .flatMap(queue -> queue.answer(queue.whole()).stream())
                .toList();
        assertThat(answers)
                .as("answers to lone requests")
                .contains(Decision.granted())
                .noneMatch(Decision.WaitFor.class::isInstance);
    }
}
