// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.ensemble;

/**
 * How a process held a lock, as it saw it. Times are of the machine's one monotonic clock, so those of several processes
 * can be compared.
 *
 * @param lock the name of the lock
 * @param exclusive whether no other may hold it at the same time
 * @param token the fencing token
 * @param grantedAt when the process knew that it held the lock; the server knew before
 * @param lastValidAt the last time from which on it asked whether the lease was valid and was told so
 */
record Hold(String lock, boolean exclusive, long token, long grantedAt, long lastValidAt) {}
