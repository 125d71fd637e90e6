// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.handoff;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.contract.InterProcessLockContract;
import dev.zkrecipes.test.contract.Ownership;
import dev.zkrecipes.test.contract.Recipe;
import java.time.Duration;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/**
 * A mutex whose node is kept after the last release keeps the contract of every lock, beside a rival in strict order.
 *
 * <p>The suite for revocation is left out, as it wants nobody to be asked once a lease has ended: here the process is
 * asked as long as it keeps the node, see {@link KeepForTest}.
 */
@Tag("soak")
class KeptMutexContractIT extends InterProcessLockContract {
    private static InterProcessLock kept(ZooKeeperClient client, String path, LockOptions options) {
        return new HandoffMutex(client, path, 64, options).keepFor(Duration.ofMillis(100));
    }

    @Override
    protected Recipe recipe() {
        return Recipe.rivals(KeptMutexContractIT::kept, InterProcessMutex::new, Ownership.REENTRANT_THREAD)
                .withLocalHandoffs();
    }

    @Nested
    class Holds extends Reentrant {}

    @Nested
    class OldAge extends Renewable {}
}
