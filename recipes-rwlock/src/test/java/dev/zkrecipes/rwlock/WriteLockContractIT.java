// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.rwlock;

import dev.zkrecipes.test.contract.LockContract;
import dev.zkrecipes.test.contract.Ownership;
import dev.zkrecipes.test.contract.Recipe;

class WriteLockContractIT extends LockContract {
    @Override
    protected Recipe recipe() {
        return Recipe.exclusive(
                (client, path, options) -> new InterProcessReadWriteLock(client, path, options).writeLock(),
                Ownership.REENTRANT_THREAD);
    }
}
