// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.semaphore;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.contract.Recipe;
import dev.zkrecipes.test.contract.SemaphoreContract;
import dev.zkrecipes.test.contract.SemaphoreMaker;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** Permits that are passed on inside the process keep the contract of every semaphore. */
@Tag("soak")
class PermitsWithLocalHandoffsContractIT extends SemaphoreContract {
    @Override
    protected SemaphoreMaker semaphores() {
        return (client, path, limit, options) ->
                new InterProcessSemaphore(client, path, limit, options.localHandoffs(64))::permits;
    }

    @Override
    protected Recipe permits() {
        return super.permits().withLocalHandoffs();
    }

    @Nested
    class Limit extends Resizable {
        @Override
        protected void resize(ZooKeeperClient client, String path, int configured, int limit)
                throws InterruptedException {
            new InterProcessSemaphore(client, path, configured).resize(limit);
        }
    }

    @Nested
    class Leases extends AsLock {
        @Nested
        class Asked extends Revocable {}
    }
}
