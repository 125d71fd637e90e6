// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * The acquire loop: enter the queue, decide, wait for predecessors, grant; and the way beside it: a downgrade.
 * {@link dev.zkrecipes.core.spi.LockInternals} tells what happens at each step.
 */
@NullMarked
package dev.zkrecipes.core.internal.acquire;

import org.jspecify.annotations.NullMarked;
