// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

/** The owner of a lock's holds. */
public enum Ownership {
    /** The thread that acquired, which acquires again at once; no other thread may release. */
    REENTRANT_THREAD,
    /** The thread that acquired, which queues like any other when it asks again; no other thread may release. */
    THREAD,
    /**
     * The instance, one hold at a time: any thread may release. As long as a lost hold is open, acquires are refused.
     */
    INSTANCE,
    /** No owner: any thread may release, and each acquire is a separate request, whatever happened to earlier ones. */
    NOBODY
}
