// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.mutex;

import dev.zkrecipes.test.contract.InterProcessLockContract;
import dev.zkrecipes.test.contract.Ownership;
import dev.zkrecipes.test.contract.Recipe;
import org.junit.jupiter.api.Nested;

class InterProcessMutexContractIT extends InterProcessLockContract {
    @Override
    protected Recipe recipe() {
        return Recipe.exclusive(InterProcessMutex::new, Ownership.REENTRANT_THREAD);
    }

    @Nested
    class Holds extends Reentrant {}

    @Nested
    class Asked extends Revocable {}

    @Nested
    class OldAge extends Renewable {}
}
