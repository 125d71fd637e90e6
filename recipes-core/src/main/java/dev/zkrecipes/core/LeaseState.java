// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/** What is known, without asking anybody, of a {@link Lease}. */
public enum LeaseState {
    /** The lock is held, as far as a server's last answer to a write reaches. */
    HELD,
    /** Nobody has confirmed the lock for too long, or the connection is lost. It may become HELD again, or LOST. */
    SUSPENDED,
    /** The lock is lost, for good. */
    LOST,
    /** The lease was closed. */
    RELEASED
}
