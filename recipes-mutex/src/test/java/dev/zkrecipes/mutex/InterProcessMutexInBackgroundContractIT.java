// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.mutex;

import dev.zkrecipes.test.contract.AcquireContract;
import dev.zkrecipes.test.contract.InterruptContract;
import dev.zkrecipes.test.contract.LeaseContract;
import dev.zkrecipes.test.contract.LockCapabilityContract;
import dev.zkrecipes.test.contract.LossContract;
import dev.zkrecipes.test.contract.Ownership;
import dev.zkrecipes.test.contract.Recipe;
import dev.zkrecipes.test.contract.TurnsContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/**
 * The suites of the mutex once more, without waiting for the confirmation of a release, against a rival that does wait. The
 * session suite is left out: it counts the requests of a try and assumes that none is in flight when the call returns.
 */
@Tag("soak")
class InterProcessMutexInBackgroundContractIT extends LockCapabilityContract {
    @Override
    protected Recipe recipe() {
        return Recipe.rivals(
                (client, path, options) -> new InterProcessMutex(client, path, options.withReleaseInBackground()),
                InterProcessMutex::new,
                Ownership.REENTRANT_THREAD);
    }

    @Nested
    class Acquire extends AcquireContract {
        @Override
        protected Recipe recipe() {
            return InterProcessMutexInBackgroundContractIT.this.recipe();
        }
    }

    @Nested
    class Turns extends TurnsContract {
        @Override
        protected Recipe recipe() {
            return InterProcessMutexInBackgroundContractIT.this.recipe();
        }
    }

    @Nested
    class Interrupt extends InterruptContract {
        @Override
        protected Recipe recipe() {
            return InterProcessMutexInBackgroundContractIT.this.recipe();
        }
    }

    @Nested
    class Loss extends LossContract {
        @Override
        protected Recipe recipe() {
            return InterProcessMutexInBackgroundContractIT.this.recipe();
        }
    }

    @Nested
    class Truth extends LeaseContract {
        @Override
        protected Recipe recipe() {
            return InterProcessMutexInBackgroundContractIT.this.recipe();
        }
    }

    @Nested
    class Holds extends Reentrant {}

    @Nested
    class Asked extends Revocable {}
}
