// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.test.contract.DriverLaws;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The rule of the group lock, the laws, and its names. */
class GroupDriverTest {
    private static final String ID = "0123456789abcdef0123456789abcdef-";
    private static final List<String> GROUPS = List.of("red", "green", "");

    // Of another group than any that is decided on: what counts is in the nodes.
    private final LockDriver driver = new GroupLock.Driver("blue");

    @Test
    void laws_holdOverEveryShortQueue() {
        DriverLaws.queues(driver, "group.", GROUPS, 6).forEach(queue -> DriverLaws.check(driver, queue));
    }

    @Test
    void requestWaitsForTheNearestOneOfAnotherGroup_orHolds() {
        DriverLaws.queues(driver, "group.", GROUPS, 6)
                .forEach(queue -> DriverLaws.checkNearest(
                        driver, queue, (one, other) -> !one.payload().equals(other.payload())));
    }

    static List<String> legalGroups() {
        return List.of("", "red", "RED", "0", "0000000001", "a.b", "._~", "~", "_", "group.", "x".repeat(80));
    }

    @ParameterizedTest
    @MethodSource("legalGroups")
    void everyLegalGroup_comesBackFromTheName(String group) {
        String name = new GroupLock.Driver(group).nodeName() + "0000000007";
        assertThat(driver.parse(ID + name)).map(LockNode::payload).contains(group);
        assertThat(driver.parse(ID + name)).map(LockNode::number).contains(7L);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "group.a-b-0000000001",
                "group.a b-0000000001",
                "group.red-",
                "groups.red-0000000001",
                "lock-0000000001",
                "range.red-0000000001"
            })
    void nameThatIsNoGroup_isForeign(String name) {
        assertThat(driver.parse(name)).isEmpty();
        assertThat(driver.parse(ID + name)).isEmpty();
    }
}
