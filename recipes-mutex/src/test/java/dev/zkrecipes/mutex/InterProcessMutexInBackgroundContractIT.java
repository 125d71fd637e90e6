// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.mutex;

import dev.zkrecipes.test.contract.InterProcessLockContract;
import dev.zkrecipes.test.contract.Ownership;
import dev.zkrecipes.test.contract.Recipe;
import org.junit.jupiter.api.Nested;

/** The suite of the mutex once more, where nobody waits for the confirmation of a release. */
class InterProcessMutexInBackgroundContractIT extends InterProcessLockContract {
    @Override
    protected Recipe recipe() {
        return Recipe.exclusive(
                (client, path, options) -> new InterProcessMutex(client, path, options.releaseInBackground()),
                Ownership.REENTRANT_THREAD);
    }

    @Nested
    class Holds extends Reentrant {}

    @Nested
    class Asked extends Revocable {}

    @Nested
    class OldAge extends Renewable {}
}
