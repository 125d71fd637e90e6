// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/** What is known about a {@link Lease}, without asking a server. */
public enum LeaseState {
    /** The lock is held, as the server's last answer to a write proves. */
    HELD,
    /** The lock has not been confirmed for too long, or the connection is lost. It may become HELD again, or LOST. */
    SUSPENDED,
    /** The lock is lost. Final. */
    LOST,
    /** The lease was closed. */
    RELEASED
}
