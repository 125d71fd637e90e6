// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.handoff;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.contract.InterProcessLockContract;
import dev.zkrecipes.test.contract.Ownership;
import dev.zkrecipes.test.contract.Recipe;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** A mutex that is passed on inside the process keeps the contract of every lock, beside a rival in strict order. */
@Tag("soak")
class HandoffMutexContractIT extends InterProcessLockContract {
    private static InterProcessLock passedOn(ZooKeeperClient client, String path, LockOptions options) {
        return new HandoffMutex(client, path, 64, options);
    }

    @Override
    protected Recipe recipe() {
        return Recipe.rivals(HandoffMutexContractIT::passedOn, InterProcessMutex::new, Ownership.REENTRANT_THREAD)
                .withLocalHandoffs();
    }

    @Nested
    class Holds extends Reentrant {}

    @Nested
    class Asked extends Revocable {}

    @Nested
    class OldAge extends Renewable {}
}
