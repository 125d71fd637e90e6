// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

/** Who owns the holds of a lock. */
public enum Ownership {
    /** The thread that acquired the lock. It can acquire the lock again at once; no other thread may release it. */
    REENTRANT_THREAD,
    /**
     * The thread that acquired the lock. If it acquires the lock again, it queues like any other; no other thread may
     * release it.
     */
    THREAD,
    /**
     * The lock object, with one hold at a time: any thread may release it. While a lost hold is open, the lock object
     * refuses to acquire.
     */
    INSTANCE,
    /**
     * Nobody: any thread may release a hold. Each acquire is a separate request, whatever happened to earlier ones.
     */
    NOBODY
}
