// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * Questions about a queue, and requests to its holders, by a client that does not enter the queue itself: who holds
 * and who waits, and asking a holder to give its lock back.
 */
@NullMarked
package dev.zkrecipes.core.internal.ask;

import org.jspecify.annotations.NullMarked;
