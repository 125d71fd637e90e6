// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.mutex;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.contract.LockCapabilityContract;
import dev.zkrecipes.test.contract.Ownership;
import dev.zkrecipes.test.contract.Recipe;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** What holds of the instance add to that. */
@Tag("soak")
class SemaphoreMutexWithLocalHandoffsContractIT extends LockCapabilityContract {
    private static InterProcessLock passedOn(ZooKeeperClient client, String path, LockOptions options) {
        return new InterProcessSemaphoreMutex(client, path, options.localHandoffs(64));
    }

    @Override
    protected Recipe recipe() {
        return Recipe.exclusive(SemaphoreMutexWithLocalHandoffsContractIT::passedOn, Ownership.INSTANCE);
    }

    @Nested
    class Holds extends InstanceOwned {}

    @Nested
    class Asked extends Revocable {}
}
