// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

/** A client with its record of all holds. */
public interface HoldingHost extends LockHost {
    LockDataTable holds();

    DeadOwnerCheck deadOwners();
}
