// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectNestedClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectNestedMethod;

import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.test.contract.InterProcessLockContract;
import dev.zkrecipes.test.contract.Ownership;
import dev.zkrecipes.test.contract.Recipe;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

/**
 * The suites of {@code docs/drivers.md} on the group lock: what is its own, and a little of the rest, which
 * our recipes play in full.
 */
class TestingYourDriverIT {

    static class GroupLockContractIT extends InterProcessLockContract {
        @Override
        protected Recipe recipe() {
            return Recipe.rivals(group("red"), group("green"), Ownership.REENTRANT_THREAD);
        }

        private static Recipe.Maker group(String name) {
            return (client, path, options) ->
                    new LockInternals(client, path, new GroupLock.Driver(name), options).threadOwned();
        }

        @Nested
        class Holds extends Reentrant {}

        @Nested
        class Asked extends Revocable {}
    }

    @Test
    void groupLock_keepsItsContracts() {
        String suites = InterProcessLockContract.class.getName();
        List<String> lock = List.of(GroupLockContractIT.class.getName());
        Events tests = EngineTestKit.engine("junit-jupiter")
                .selectors(
                        selectNestedClass(List.of(GroupLockContractIT.class), GroupLockContractIT.Holds.class),
                        selectNestedClass(List.of(GroupLockContractIT.class), GroupLockContractIT.Asked.class),
                        selectNestedMethod(
                                lock, suites + "$Acquire", "freeLock_isGranted", "dev.zkrecipes.test.contract.Flavour"),
                        selectNestedClass(lock, suites + "$Turns"),
                        selectNestedMethod(lock, suites + "$Truth", "deletedNode_losesTheLock"))
                .execute()
                .testEvents();
        assertThat(tests.failed().stream()).isEmpty();
        assertThat(tests.succeeded().count()).isEqualTo(tests.started().count()).isEqualTo(5 + 8 + 8 + 5 + 1);
    }
}
