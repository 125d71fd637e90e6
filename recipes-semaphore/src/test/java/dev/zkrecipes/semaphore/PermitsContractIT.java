// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.semaphore;

import dev.zkrecipes.test.contract.LockContract;
import dev.zkrecipes.test.contract.Ownership;
import dev.zkrecipes.test.contract.Recipe;

class PermitsContractIT extends LockContract {
    @Override
    protected Recipe recipe() {
        return Recipe.rivals(
                (client, path, options) -> new InterProcessSemaphore(client, path, 3, options).permits(2),
                (client, path, options) -> new InterProcessSemaphore(client, path, 3, options).permits(3),
                Ownership.NOBODY);
    }
}
