// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.multilock;

import dev.zkrecipes.test.contract.LockContract;
import dev.zkrecipes.test.contract.Ownership;
import dev.zkrecipes.test.contract.Recipe;
import java.util.List;

class MultiLockContractIT extends LockContract {
    @Override
    protected Recipe recipe() {
        return Recipe.rivals(
                        (client, path, options) ->
                                new InterProcessMultiLock(client, List.of(path + "/a", path + "/b"), options),
                        (client, path, options) -> new InterProcessMultiLock(client, List.of(path + "/a"), options),
                        Ownership.REENTRANT_THREAD)
                .withQueues("/a", "/b");
    }
}
