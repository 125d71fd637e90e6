// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import dev.zkrecipes.core.LockException;

/** The error to report for an exception during a request. */
public final class EngineFailure {
    private EngineFailure() {}

    /** An error of our own says what is wrong, also with a driver; anything else is a defect of ours. */
    public static LockException of(String subject, Throwable thrown) {
        return thrown instanceof LockException known
                ? known
                : new LockException(
                        "the lock engine failed on " + subject + " (" + thrown + "); please report this", thrown);
    }
}
