// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.ZooKeeperClient;

/** A client with its record of all holds. */
public interface HoldingHost extends LockHost, ZooKeeperClient {
    LockDataTable holds();

    DeadOwnerCheck deadOwners();
}
