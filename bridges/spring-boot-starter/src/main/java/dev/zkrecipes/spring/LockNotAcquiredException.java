// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import dev.zkrecipes.core.LockException;

/** A method with {@link WithLock} was not run: it did not get its lock in time, or while the application stopped. */
public final class LockNotAcquiredException extends LockException {
    private static final long serialVersionUID = 1L;

    LockNotAcquiredException(String message) {
        super(message);
    }
}
