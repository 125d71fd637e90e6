// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.FifoDriver;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.SharedRuleDriver;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * Drivers of a lock that two requests may hold together, each broken in one way, and sound ones beside them. A driver is a name, a
 * reader of names, and a rule.
 */
final class BrokenDrivers {
    static final String KIND = "pair.";

    private BrokenDrivers() {}

    @FunctionalInterface
    interface Rule {
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

    /** Names, reads and decides as another driver does. */
    private interface Wrapping extends LockDriver {
        Ruled driver();

        @Override
        default String nodeName() {
            return driver().nodeName();
        }

        @Override
        default Optional<LockNode> parse(String childName) {
            return driver().parse(childName);
        }

        @Override
        default Decision decide(List<LockNode> predecessors, LockNode self) {
            return driver().decide(predecessors, self);
        }
    }

    /** Equal to all others, whatever they request. */
    private record EqualToAll(Ruled driver) implements Wrapping {
        @Override
        public boolean equals(Object other) {
            return other instanceof EqualToAll;
        }

        @Override
        public int hashCode() {
            return 1;
        }
    }

    static List<LockDriver> equalToAll() {
        return deciding(BrokenDrivers::pair).stream()
                .map(driver -> (LockDriver) new EqualToAll((Ruled) driver))
                .toList();
    }

    /** No record: equal to nothing but itself. */
    private static final class EqualToItself implements Wrapping {
        private final Ruled driver;

        EqualToItself(Ruled driver) {
            this.driver = driver;
        }

        @Override
        public Ruled driver() {
            return driver;
        }
    }

    static List<LockDriver> equalToItself() {
        return deciding(BrokenDrivers::pair).stream()
                .map(driver -> (LockDriver) new EqualToItself((Ruled) driver))
                .toList();
    }

    /** Serves in order, as it says. */
    private record InOrder(Ruled driver) implements Wrapping, FifoDriver {}

    static List<LockDriver> inOrder(Rule rule) {
        return deciding(rule).stream()
                .map(driver -> (LockDriver) new InOrder((Ruled) driver))
                .toList();
    }

    /** An a waits for a b in front, and for nobody else; a b waits for nobody. */
    static Decision overtaking(List<LockNode> predecessors, LockNode self) {
        return self.payload().equals("b")
                ? Decision.granted()
                : predecessors.stream()
                        .filter(node -> node.payload().equals("b"))
                        .findFirst()
                        .map(Decision::waitFor)
                        .orElse(Decision.granted());
    }

    /** Decides by one rule, and puts another one into the lock's node. */
    private record Shared(Ruled driver, Rule initial) implements Wrapping, SharedRuleDriver {
        @Override
        public byte[] initialRule() {
            return new byte[] {1};
        }

        @Override
        public LockDriver under(byte[] rule) {
            return new Ruled(driver.nodeName(), driver.reader(), initial);
        }
    }

    static List<LockDriver> beginningBy(Rule initial) {
        return deciding(BrokenDrivers::pair).stream()
                .map(driver -> (LockDriver) new Shared((Ruled) driver, initial))
                .toList();
    }

    static List<LockDriver> deciding(Rule rule) {
        return reading(name -> LockNode.parseWithPayload(name, KIND), rule);
    }

    static List<LockDriver> reading(Function<String, Optional<LockNode>> reader, Rule rule) {
        return List.of(new Ruled(KIND + "a-", reader, rule), new Ruled(KIND + "b-", reader, rule));
    }

    // ---- The ones that docs/drivers.md warns of, and a sound one.

    /** Holds beside an earlier holder. When that one leaves, nothing takes the hold back. */
    static Decision inCompany(List<LockNode> predecessors, LockNode self) {
        return predecessors.isEmpty() ? Decision.never("nobody is here") : Decision.granted();
    }

    /** Two may hold. A third that watches only the nearest one does not hear of the other's release. */
    static Decision pairThatWatchesOne(List<LockNode> predecessors, LockNode self) {
        return predecessors.size() < 2 ? Decision.granted() : Decision.grantedIfFirst(predecessors);
    }

    /** Two may hold. Of any two in front at least one has to leave. */
    static Decision pair(List<LockNode> predecessors, LockNode self) {
        int size = predecessors.size();
        return size < 2 ? Decision.granted() : Decision.waitFor(predecessors.subList(size - 2, size));
    }

    /** Two may hold, but no two b: it counts a b that waits for another as if it held, and makes an a wait for it. */
    static Decision countingWaiters(List<LockNode> predecessors, LockNode self) {
        return oneOfB(predecessors, self).orElseGet(() -> pair(predecessors, self));
    }

    /** Two may hold, but no two b. Of the b in front only one can hold. */
    static Decision countingHolders(List<LockNode> predecessors, LockNode self) {
        List<LockNode> others =
                predecessors.stream().filter(node -> node.payload().equals("a")).toList();
        return oneOfB(predecessors, self)
                .orElseGet(() -> others.size() + (others.size() < predecessors.size() ? 1 : 0) < 2
                        ? Decision.granted()
                        : Decision.waitFor(predecessors));
    }

    private static Optional<Decision> oneOfB(List<LockNode> predecessors, LockNode self) {
        return predecessors.stream()
                .filter(node -> node.payload().equals("b") && self.payload().equals("b"))
                .reduce((far, near) -> near)
                .map(Decision::waitFor);
    }

    /** Two may hold. A third is told to go away, though it would only have to wait. */
    static Decision pairThatSendsOthersAway(List<LockNode> predecessors, LockNode self) {
        return predecessors.size() < 2 ? Decision.granted() : Decision.never("two are here");
    }

    // ---- Others.

    static Decision besideAnybody(List<LockNode> predecessors, LockNode self) {
        return Decision.granted();
    }

    static Decision alone(List<LockNode> predecessors, LockNode self) {
        return Decision.grantedIfFirst(predecessors);
    }

    /** Sends away whom it should let in. */
    static Decision busy(List<LockNode> predecessors, LockNode self) {
        return predecessors.isEmpty() ? Decision.granted() : Decision.never("somebody is here");
    }

    static Decision nobody(List<LockNode> predecessors, LockNode self) {
        return Decision.never("closed on Sundays");
    }

    static Decision onWhoIsGone(List<LockNode> predecessors, LockNode self) {
        LockNode gone = new LockNode(KIND + "a-0000000000", KIND, "a", 0);
        return predecessors.size() < 2 ? Decision.granted() : Decision.waitFor(gone);
    }

    static Decision onItself(List<LockNode> predecessors, LockNode self) {
        return predecessors.size() < 2 ? Decision.granted() : Decision.waitFor(self);
    }

    static Decision onNobody(List<LockNode> predecessors, LockNode self) {
        return predecessors.size() < 2 ? Decision.granted() : Decision.waitFor(List.of());
    }

    static Decision withoutAnAnswer(List<LockNode> predecessors, LockNode self) {
        return predecessors.size() < 2 ? Decision.granted() : null;
    }

    static Decision sortingWhatItIsGiven(List<LockNode> predecessors, LockNode self) {
        Collections.sort(predecessors);
        return pair(predecessors, self);
    }

    static Decision byName(List<LockNode> predecessors, LockNode self) {
        List<LockNode> sorted = new ArrayList<>(predecessors);
        sorted.sort((one, other) -> one.name().compareTo(other.name()));
        int size = sorted.size();
        return size < 2 ? Decision.granted() : Decision.waitFor(sorted.subList(size - 2, size));
    }

    /** Looks for two neighbours by their numbers, and so finds none beside a gap. */
    static Decision byNumber(List<LockNode> predecessors, LockNode self) {
        List<LockNode> near = predecessors.stream()
                .filter(node -> node.number() >= self.number() - 2)
                .toList();
        return near.size() < 2 ? Decision.granted() : Decision.waitFor(near);
    }

    /** Grants every third request that it should refuse. */
    static Rule impatient() {
        AtomicInteger refused = new AtomicInteger();
        return (predecessors, self) -> {
            Decision sound = pair(predecessors, self);
            return sound instanceof Decision.WaitFor && refused.incrementAndGet() % 3 == 0 ? Decision.granted() : sound;
        };
    }

    /** How many may be in front depends on the driver that is asked, not on the request it is asked about. */
    static List<LockDriver> byItsOwnField() {
        BiFunction<String, Integer, LockDriver> make = (name, limit) -> new Ruled(
                KIND + name + "-",
                childName -> LockNode.parseWithPayload(childName, KIND),
                (predecessors, self) -> predecessors.size() < limit
                        ? Decision.granted()
                        : Decision.waitFor(predecessors.subList(predecessors.size() - limit, predecessors.size())));
        return List.of(make.apply("a", 2), make.apply("b", 1));
    }

    static List<LockDriver> named(String nodeName) {
        return List.of(new Ruled(nodeName, name -> LockNode.parseWithPayload(name, KIND), BrokenDrivers::pair));
    }

    static Optional<LockNode> onlyOrdinary(String name) {
        return LockNode.parseWithPayload(name, KIND).filter(LockNode::hasOrdinaryNumber);
    }

    static Optional<LockNode> anything(String name) {
        return LockNode.parseWithPayload(name, KIND).or(() -> LockNode.parse(name, "lock-"));
    }

    static Optional<LockNode> withoutPayload(String name) {
        return LockNode.parseWithPayload(name, KIND)
                .map(node -> new LockNode(node.name(), node.kind(), "", node.number()));
    }
}
