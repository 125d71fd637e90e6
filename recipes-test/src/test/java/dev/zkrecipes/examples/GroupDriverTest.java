// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.test.contract.LockDriverContract;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The rule of the group lock, and its names. */
class GroupDriverTest extends LockDriverContract {
    private static final String ID = "0123456789abcdef0123456789abcdef-";

    @Override
    protected List<LockDriver> drivers() {
        return List.of(new GroupLock.Driver("red"), new GroupLock.Driver("green"), new GroupLock.Driver(""));
    }

    @Override
    protected boolean compatible(List<LockNode> holders) {
        return holders.stream().map(LockNode::payload).distinct().count() == 1;
    }

    @Test
    void requestWaitsForTheNearestOneOfAnotherGroup_orHolds() {
        assertEachWaitsForTheNearest((one, other) -> !one.payload().equals(other.payload()));
    }

    static List<String> legalGroups() {
        return List.of("", "red", "RED", "0", "0000000001", "a.b", "._~", "~", "_", "group.", "x".repeat(80));
    }

    @ParameterizedTest
    @MethodSource("legalGroups")
    void everyLegalGroup_comesBackFromTheName(String group) {
        LockDriver driver = new GroupLock.Driver(group);
        assertThat(node(driver, 7)).returns(group, LockNode::payload).returns(7L, LockNode::number);
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
        assertThat(new GroupLock.Driver("blue").parse(name)).isEmpty();
        assertThat(new GroupLock.Driver("blue").parse(ID + name)).isEmpty();
    }
}
