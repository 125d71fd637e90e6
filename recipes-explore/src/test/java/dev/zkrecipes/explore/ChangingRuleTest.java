// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.SharedRuleDriver;
import java.util.List;
import java.util.Optional;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Test;

/** The explorer judges a lock whose rule changes by the rules that were in force. */
class ChangingRuleTest {
    private static final int SCHEDULES = 2_000;
    private static final String KIND = "slot-";
    private static final int INITIAL = 2;
    private static final int SHUT = 0;

    /** As many at a time as the one byte of the lock's node says; none, not even later, if that is 0. */
    private record Slots(int limit, IntUnaryOperator understood) implements SharedRuleDriver {
        @Override
        public byte[] initialRule() {
            return new byte[] {INITIAL};
        }

        @Override
        public LockDriver under(byte[] rule) {
            return new Slots(understood.applyAsInt(rule[0]), understood);
        }

        @Override
        public String nodeName() {
            return KIND;
        }

        @Override
        public Optional<LockNode> parse(String childName) {
            return LockNode.parse(childName, KIND);
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            if (limit == SHUT) {
                return Decision.never("it is shut");
            }
            return predecessors.size() < limit
                    ? Decision.granted()
                    : Decision.waitFor(predecessors.subList(predecessors.size() - limit, predecessors.size()));
        }
    }

    private static LockInternals slots(ZooKeeperClient client, String path, IntUnaryOperator understood) {
        return new LockInternals(client, path, new Slots(INITIAL, understood), LockOptions.defaults());
    }

    private static ChangingRule.Change to(int limit) {
        return (client, path) ->
                slots(client, path, IntUnaryOperator.identity()).changeRule(before -> new byte[] {(byte) limit});
    }

    /** Slots, of which each process understands the limit in this way. */
    private static Explorer explorer(IntUnaryOperator understood, ChangingRule.Change... changes) {
        ChangingRule limits = new ChangingRule(data -> atMost(data[0]), List.of(KIND), List.of(changes));
        return Explorer.of(ExploredLock.of(
                        "slots",
                        atMost(INITIAL),
                        (client, path) -> List.<InterProcessLock>of(
                                slots(client, path, understood).instanceOwned()))
                .withChangingRule(limits));
    }

    private static Rule atMost(int limit) {
        return (front, self) -> front.size() < limit;
    }

    @Test
    void soundLock_isNotAccused() {
        assertThat(explorer(IntUnaryOperator.identity(), to(SHUT), to(1), to(INITIAL), to(INITIAL + 1))
                        .explore(1, 500))
                .isEmpty();
    }

    @Test
    void rule_thatNobodyReads_isFound() {
        assertThat(explorer(limit -> INITIAL, to(1)).explore(1, SCHEDULES))
                .map(Violation::rule)
                .contains("nobody is granted out of turn");
    }

    @Test
    void largerLimit_thatNobodyGoesBy_isFound() {
        assertThat(explorer(limit -> limit > INITIAL ? 1 : limit, to(INITIAL + 1))
                        .explore(1, SCHEDULES))
                .map(Violation::rule)
                .contains("whoever may hold is woken");
    }

    @Test
    void smallerLimit_thatTurnsAwayWhoMayHold_isFound() {
        assertThat(explorer(limit -> limit == 1 ? SHUT : limit, to(1)).explore(1, SCHEDULES))
                .map(Violation::rule)
                .get()
                .asString()
                .endsWith("is not turned away");
    }
}
