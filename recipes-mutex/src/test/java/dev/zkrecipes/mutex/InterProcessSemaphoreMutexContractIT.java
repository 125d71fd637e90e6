// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.mutex;

import dev.zkrecipes.test.contract.InterProcessLockContract;
import dev.zkrecipes.test.contract.Ownership;
import dev.zkrecipes.test.contract.Recipe;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

@Tag("soak")
class InterProcessSemaphoreMutexContractIT extends InterProcessLockContract {
    @Override
    protected Recipe recipe() {
        return Recipe.exclusive(InterProcessSemaphoreMutex::new, Ownership.INSTANCE);
    }

    @Nested
    class Holds extends AnyThread {}

    @Nested
    class Asked extends Revocable {}

    @Nested
    class OldAge extends Renewable {}
}
