// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.mutex;

import dev.zkrecipes.test.contract.AcquireContract;
import dev.zkrecipes.test.contract.LossContract;
import dev.zkrecipes.test.contract.Ownership;
import dev.zkrecipes.test.contract.Recipe;
import dev.zkrecipes.test.contract.SessionContract;
import org.junit.jupiter.api.Nested;

class InterProcessMutexContractIT {
    private static final Recipe RECIPE = Recipe.exclusive(InterProcessMutex::new, Ownership.REENTRANT_THREAD);

    @Nested
    class Acquire extends AcquireContract {
        @Override
        protected Recipe recipe() {
            return RECIPE;
        }
    }

    @Nested
    class Session extends SessionContract {
        @Override
        protected Recipe recipe() {
            return RECIPE;
        }
    }

    @Nested
    class Loss extends LossContract {
        @Override
        protected Recipe recipe() {
            return RECIPE;
        }
    }
}
