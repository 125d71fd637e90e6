// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.rwlock;

import dev.zkrecipes.test.contract.InterProcessLockContract;
import dev.zkrecipes.test.contract.Ownership;
import dev.zkrecipes.test.contract.Recipe;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

@Tag("soak")
class WriteLockContractIT extends InterProcessLockContract {
    @Override
    protected Recipe recipe() {
        return Recipe.exclusive(
                (client, path, options) -> new InterProcessReadWriteLock(client, path, options).writeLock(),
                Ownership.REENTRANT_THREAD);
    }

    @Nested
    class Holds extends Reentrant {}

    @Nested
    class Asked extends Revocable {}

    @Nested
    class OldAge extends Renewable {}
}
