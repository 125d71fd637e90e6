// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which names are those of a group lock. */
class GroupNamesTest {
    private static final String ID = "0123456789abcdef0123456789abcdef-";

    static List<String> legalGroups() {
        return List.of("", "red", "RED", "0", "0000000001", "a.b", "._~", "~", "_", "group.", "x".repeat(80));
    }

    @ParameterizedTest
    @MethodSource("legalGroups")
    void everyLegalGroup_isReadBackFromTheName(String group) {
        LockDriver driver = new GroupLock.Driver(group);
        assertThat(driver.parse(ID + driver.nodeName() + "0000000007"))
                .get()
                .returns(group, LockNode::payload)
                .returns(7L, LockNode::number);
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
    void nameOtherThanAGroup_isForeign(String name) {
        assertThat(new GroupLock.Driver("blue").parse(name)).isEmpty();
        assertThat(new GroupLock.Driver("blue").parse(ID + name)).isEmpty();
    }
}
