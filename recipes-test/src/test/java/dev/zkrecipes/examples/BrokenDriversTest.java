// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.FifoDriver;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.SharedRuleDriver;
import dev.zkrecipes.test.contract.LockDriverContract;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

/** {@link LockDriverContract} finds what is wrong with a driver, and says by which rule; a sound one passes. */
class BrokenDriversTest {
    private static final String KIND = "pair.";

    /** What the suite below plays with; the tests run one after the other. */
    private static List<LockDriver> played = List.of();

    /** Of two names: a pair of requests may hold together. */
    static class Suite extends LockDriverContract {
        @Override
        protected List<LockDriver> drivers() {
            return played;
        }

        @Override
        protected boolean compatible(List<LockNode> holders) {
            return holders.size() <= 2;
        }
    }

    @FunctionalInterface
    private interface Rule {
        Decision decide(List<LockNode> predecessors, LockNode self);
    }

    private record Ruled(String nodeName, Function<String, Optional<LockNode>> reader, Rule rule)
            implements LockDriver {
        @Override
        public Optional<LockNode> parse(String childName) {
            return reader.apply(childName);
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            return rule.decide(predecessors, self);
        }

        @Override
        public String toString() {
            return nodeName;
        }
    }

    /** Serves in order, as it says. */
    private record InOrder(Ruled driver) implements FifoDriver {
        @Override
        public String nodeName() {
            return driver.nodeName();
        }

        @Override
        public Optional<LockNode> parse(String childName) {
            return driver.parse(childName);
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            return driver.decide(predecessors, self);
        }
    }

    private static List<LockDriver> inOrder(Rule rule) {
        return deciding(rule).stream()
                .map(driver -> (LockDriver) new InOrder((Ruled) driver))
                .toList();
    }

    /** An a waits for a b in front, and for nobody else; a b waits for nobody. */
    private static Decision overtaking(List<LockNode> predecessors, LockNode self) {
        return self.payload().equals("b")
                ? Decision.granted()
                : predecessors.stream()
                        .filter(node -> node.payload().equals("b"))
                        .findFirst()
                        .map(Decision::waitFor)
                        .orElse(Decision.granted());
    }

    /** Decides by one rule, and puts another one into the lock's node. */
    private record Shared(Ruled driver, Rule initial) implements SharedRuleDriver {
        @Override
        public byte[] initialRule() {
            return new byte[] {1};
        }

        @Override
        public LockDriver under(byte[] rule) {
            return new Ruled(driver.nodeName(), driver.reader(), initial);
        }

        @Override
        public String nodeName() {
            return driver.nodeName();
        }

        @Override
        public Optional<LockNode> parse(String childName) {
            return driver.parse(childName);
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            return driver.decide(predecessors, self);
        }
    }

    private static List<LockDriver> beginningBy(Rule initial) {
        return deciding(BrokenDriversTest::pair).stream()
                .map(driver -> (LockDriver) new Shared((Ruled) driver, initial))
                .toList();
    }

    private static List<LockDriver> deciding(Rule rule) {
        return reading(name -> LockNode.parseWithPayload(name, KIND), rule);
    }

    private static List<LockDriver> reading(Function<String, Optional<LockNode>> reader, Rule rule) {
        return List.of(new Ruled(KIND + "a-", reader, rule), new Ruled(KIND + "b-", reader, rule));
    }

    // ---- Those that docs/custom-drivers.md warns of, and a sound one.

    /** Holds beside somebody who was there before. When he leaves, nobody takes the hold back. */
    private static Decision inCompany(List<LockNode> predecessors, LockNode self) {
        return predecessors.isEmpty() ? Decision.never("nobody is here") : Decision.granted();
    }

    /** Two may hold. A third that watches only the nearest one does not hear of the other's release. */
    private static Decision pairThatWatchesOne(List<LockNode> predecessors, LockNode self) {
        return predecessors.size() < 2 ? Decision.granted() : Decision.grantedIfFirst(predecessors);
    }

    /** Two may hold. Of any two in front at least one has to leave. */
    private static Decision pair(List<LockNode> predecessors, LockNode self) {
        int size = predecessors.size();
        return size < 2 ? Decision.granted() : Decision.waitFor(predecessors.subList(size - 2, size));
    }

    // ---- Others.

    private static Decision besideAnybody(List<LockNode> predecessors, LockNode self) {
        return Decision.granted();
    }

    private static Decision alone(List<LockNode> predecessors, LockNode self) {
        return Decision.grantedIfFirst(predecessors);
    }

    private static Decision nobody(List<LockNode> predecessors, LockNode self) {
        return Decision.never("closed on Sundays");
    }

    private static Decision onWhoIsGone(List<LockNode> predecessors, LockNode self) {
        LockNode gone = new LockNode(KIND + "a-0000000000", KIND, "a", 0);
        return predecessors.size() < 2 ? Decision.granted() : Decision.waitFor(gone);
    }

    private static Decision onItself(List<LockNode> predecessors, LockNode self) {
        return predecessors.size() < 2 ? Decision.granted() : Decision.waitFor(self);
    }

    private static Decision onNobody(List<LockNode> predecessors, LockNode self) {
        return predecessors.size() < 2 ? Decision.granted() : Decision.waitFor(List.of());
    }

    private static Decision withoutAnAnswer(List<LockNode> predecessors, LockNode self) {
        return predecessors.size() < 2 ? Decision.granted() : null;
    }

    private static Decision sortingWhatItIsGiven(List<LockNode> predecessors, LockNode self) {
        Collections.sort(predecessors);
        return pair(predecessors, self);
    }

    private static Decision byName(List<LockNode> predecessors, LockNode self) {
        List<LockNode> sorted = new ArrayList<>(predecessors);
        sorted.sort((one, other) -> one.name().compareTo(other.name()));
        int size = sorted.size();
        return size < 2 ? Decision.granted() : Decision.waitFor(sorted.subList(size - 2, size));
    }

    /** Lets every third one in that it has refused. */
    private static Rule impatient() {
        AtomicInteger refused = new AtomicInteger();
        return (predecessors, self) -> {
            Decision sound = pair(predecessors, self);
            return sound instanceof Decision.WaitFor && refused.incrementAndGet() % 3 == 0 ? Decision.granted() : sound;
        };
    }

    /** How many may be in front depends on whose driver is asked, and not on whom it is asked about. */
    private static List<LockDriver> byItsOwnField() {
        BiFunction<String, Integer, LockDriver> make = (name, limit) -> new Ruled(
                KIND + name + "-",
                childName -> LockNode.parseWithPayload(childName, KIND),
                (predecessors, self) -> predecessors.size() < limit
                        ? Decision.granted()
                        : Decision.waitFor(predecessors.subList(predecessors.size() - limit, predecessors.size())));
        return List.of(make.apply("a", 2), make.apply("b", 1));
    }

    private static List<LockDriver> named(String nodeName) {
        return List.of(new Ruled(nodeName, name -> LockNode.parseWithPayload(name, KIND), BrokenDriversTest::pair));
    }

    private static Optional<LockNode> onlyOrdinary(String name) {
        return LockNode.parseWithPayload(name, KIND).filter(LockNode::hasOrdinaryNumber);
    }

    private static Optional<LockNode> anything(String name) {
        return LockNode.parseWithPayload(name, KIND).or(() -> LockNode.parse(name, "lock-"));
    }

    private static Optional<LockNode> withoutPayload(String name) {
        return LockNode.parseWithPayload(name, KIND)
                .map(node -> new LockNode(node.name(), node.kind(), "", node.number()));
    }

    static Stream<Arguments> broken() {
        return Stream.of(
                found(
                        "in company",
                        deciding(BrokenDriversTest::inCompany),
                        "law1_",
                        "law 1: granted is pair.a(2) behind [pair.a(1)], but not pair.a(2) behind []"),
                found(
                        "pair that watches one",
                        deciding(BrokenDriversTest::pairThatWatchesOne),
                        "law2_",
                        "law 2: pair.a(3) behind [pair.a(1), pair.a(2)] waits for [pair.a(2)], "
                                + "but granted is pair.a(3) behind [pair.a(2)]"),
                found(
                        "beside anybody",
                        deciding(BrokenDriversTest::besideAnybody),
                        "requestsGranted",
                        "but not compatible, are [pair.a(1), pair.a(2), pair.a(3)]"),
                found(
                        "overtaking",
                        inOrder(BrokenDriversTest::overtaking),
                        "law4_",
                        "law 4: granted is pair.b(3) behind [pair.b(1), pair.a(2)], though somebody in front is not"),
                found("alone", deciding(BrokenDriversTest::alone), "requestCompatible", "but the last one waits"),
                found("nobody", deciding(BrokenDriversTest::nobody), "loneRequest", "Never"),
                found("on who is gone", deciding(BrokenDriversTest::onWhoIsGone), "wait_isOnlyFor", "waits for"),
                found("on itself", deciding(BrokenDriversTest::onItself), "wait_isOnlyFor", "waits for [pair.a(3)]"),
                found("on nobody", deciding(BrokenDriversTest::onNobody), "everyQuestion", "would wait forever"),
                found(
                        "no answer",
                        deciding(BrokenDriversTest::withoutAnAnswer),
                        "everyQuestion",
                        "has no answer: null"),
                found("sorts", deciding(BrokenDriversTest::sortingWhatItIsGiven), "everyQuestion", "Unsupported"),
                found(
                        "by name",
                        deciding(BrokenDriversTest::byName),
                        "answer_isTheSameWhateverTheIds",
                        "ids in another"),
                found("impatient", deciding(impatient()), "sameQuestion", "asked again"),
                found("by its own field", byItsOwnField(), "answer_isTheSameWhicheverDriver", "asked of pair."),
                found(
                        "begins by another rule",
                        beginningBy(BrokenDriversTest::alone),
                        "ruleThatIsShared",
                        "under the initial rule"),
                found("its own name unknown", named("pears.a-"), "nodeOfEachRequest", "does not know"),
                found("name with a dash", named("pair.a-b-"), "nodeName_isLegal", "pair.a-b-"),
                found("payload too long", named(KIND + "x".repeat(81) + "-"), "nodeName_isLegal", "80 characters"),
                found(
                        "worn out numbers",
                        reading(BrokenDriversTest::onlyOrdinary, BrokenDriversTest::pair),
                        "numberOfAWornOut",
                        "2147483647"),
                found(
                        "other kinds",
                        reading(BrokenDriversTest::anything, BrokenDriversTest::pair),
                        "nodeOfAnotherLock",
                        "which is of no kind"),
                found(
                        "payload forgotten",
                        reading(BrokenDriversTest::withoutPayload, BrokenDriversTest::pair),
                        "nodeOfEachRequest",
                        "kind and payload"));
    }

    private static Arguments found(String what, List<LockDriver> drivers, String rule, String message) {
        return Arguments.of(what, drivers, rule, message);
    }

    @ParameterizedTest(name = "{0}: {2}")
    @MethodSource("broken")
    void brokenDriver_isFoundByTheRuleThatItBreaks(String what, List<LockDriver> drivers, String rule, String message) {
        assertThat(play(drivers).failed().stream()).anySatisfy(failure -> {
            assertThat(failure.getTestDescriptor().getDisplayName()).startsWith(rule);
            assertThat(failure.getPayload()).asString().contains(message);
        });
    }

    @Test
    void soundDriver_passes() {
        Events tests = play(deciding(BrokenDriversTest::pair));
        assertThat(tests.failed().stream()).isEmpty();
        assertThat(tests.succeeded().count()).isEqualTo(tests.started().count()).isGreaterThanOrEqualTo(13);
    }

    @Test
    void soundDriverThatServesInOrder_passes() {
        assertThat(play(inOrder(BrokenDriversTest::pair)).failed().stream()).isEmpty();
    }

    @Test
    void soundDriverWithASharedRule_passes() {
        assertThat(play(beginningBy(BrokenDriversTest::pair)).failed().stream()).isEmpty();
    }

    private static Events play(List<LockDriver> drivers) {
        played = drivers;
        return EngineTestKit.engine("junit-jupiter")
                .selectors(selectClass(Suite.class))
                .execute()
                .testEvents();
    }
}
