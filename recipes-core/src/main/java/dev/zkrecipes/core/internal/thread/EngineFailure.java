// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import dev.zkrecipes.core.LockException;

/** What to tell of something that was thrown while a request was under way. */
public final class EngineFailure {
    private EngineFailure() {}

    /** An error of our own says what is wrong, as one that tells of a driver does; anything else is a defect of ours. */
    public static LockException of(String subject, Throwable thrown) {
        return thrown instanceof LockException known
                ? known
                : new LockException(
                        "the lock engine failed on " + subject + " (" + thrown + "); please report this", thrown);
    }
}
