// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * Queries of a queue, and requests to its holders, by a client that does not enter the queue itself: who holds the lock
 * and who waits for it, and asking a holder to give the lock back. The check of waiting requests for deadlocks is here,
 * too.
 */
@NullMarked
package dev.zkrecipes.core.internal.ask;

import org.jspecify.annotations.NullMarked;
