// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.multilock;

import dev.zkrecipes.test.contract.InterProcessLockContract;
import dev.zkrecipes.test.contract.Ownership;
import dev.zkrecipes.test.contract.Recipe;
import java.util.List;
import org.junit.jupiter.api.Nested;

class MultiLockContractIT extends InterProcessLockContract {
    @Override
    protected Recipe recipe() {
        return Recipe.rivals(
                        (client, path, options) ->
                                new InterProcessMultiLock(client, List.of(path + "/a", path + "/b"), options),
                        (client, path, options) -> new InterProcessMultiLock(client, List.of(path + "/a"), options),
                        Ownership.REENTRANT_THREAD)
                .withQueues("/a", "/b");
    }

    @Nested
    class Holds extends Reentrant {}

    @Nested
    class Asked extends Revocable {}

    @Nested
    class OldAge extends Renewable {}
}
