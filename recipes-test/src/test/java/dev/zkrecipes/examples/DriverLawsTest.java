// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.test.contract.DriverLaws;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The check of the laws sees the two drivers that {@code docs/custom-drivers.md} warns of. */
class DriverLawsTest {

    @FunctionalInterface
    private interface Rule {
        Decision decide(List<LockNode> predecessors, LockNode self);
    }

    private record Ruled(Rule rule) implements LockDriver {
        @Override
        public String nodeName() {
            return "lock-";
        }

        @Override
        public Optional<LockNode> parse(String childName) {
            return LockNode.parse(childName, "lock-");
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            return rule.decide(predecessors, self);
        }
    }

    private static void check(Rule rule) {
        LockDriver driver = new Ruled(rule);
        List<LockNode> queue =
                DriverLaws.queues(driver, "lock", List.of(""), 4).findFirst().orElseThrow();
        DriverLaws.check(driver, queue);
    }

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

    @Test
    void grantThatNeedsSomebodyInFront_breaksLawOne() {
        assertThatThrownBy(() -> check(DriverLawsTest::inCompany))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("law 1");
    }

    @Test
    void waitThatMissesARelease_breaksLawTwo() {
        assertThatThrownBy(() -> check(DriverLawsTest::pairThatWatchesOne))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("law 2");
    }

    @Test
    void waitForEnoughNodes_keepsBothLaws() {
        assertThatCode(() -> check(DriverLawsTest::pair)).doesNotThrowAnyException();
    }
}
