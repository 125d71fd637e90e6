// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import dev.zkrecipes.test.contract.Ownership;
import dev.zkrecipes.test.contract.Recipe;
import dev.zkrecipes.test.contract.RevocationContract;

/** Holders of a lock with a driver of one's own are asked to give it back as all others are. */
class GroupLockRevocationIT extends RevocationContract {
    @Override
    protected Recipe recipe() {
        return Recipe.rivals(
                (client, path, options) -> new GroupLock(client, path).lock("red"),
                (client, path, options) -> new GroupLock(client, path).lock("green"),
                Ownership.REENTRANT_THREAD);
    }
}
