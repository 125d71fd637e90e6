// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

/** Whom the holds of a lock belong to. */
public enum Ownership {
    /** The thread that acquired, which acquires again at once; nobody else may give back. */
    REENTRANT_THREAD,
    /** The thread that acquired, which queues like anybody else when it asks again; nobody else may give back. */
    THREAD,
    /** The instance, once at a time: any thread may give back. As long as a lost hold is open, acquires are refused. */
    INSTANCE,
    /** Nobody: any thread may give back, and each acquire is a request of its own, whatever became of earlier ones. */
    NOBODY;

    boolean isOfThread() {
        return this == REENTRANT_THREAD || this == THREAD;
    }
}
