// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.mutex;

import dev.zkrecipes.test.contract.LockContract;
import dev.zkrecipes.test.contract.Ownership;
import dev.zkrecipes.test.contract.Recipe;

class InterProcessSemaphoreMutexContractIT extends LockContract {
    @Override
    protected Recipe recipe() {
        return Recipe.exclusive(InterProcessSemaphoreMutex::new, Ownership.INSTANCE);
    }
}
