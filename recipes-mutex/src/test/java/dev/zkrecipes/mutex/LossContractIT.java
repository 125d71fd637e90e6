// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.mutex;

import org.junit.jupiter.api.Nested;

class LossContractIT {

    @Nested
    class OfInterProcessMutex extends LossContract {
        @Override
        Recipe recipe() {
            return Recipe.exclusive(InterProcessMutex::new, true);
        }
    }

    @Nested
    class OfInterProcessSemaphoreMutex extends LossContract {
        @Override
        Recipe recipe() {
            return Recipe.exclusive(InterProcessSemaphoreMutex::new, false);
        }
    }
}
