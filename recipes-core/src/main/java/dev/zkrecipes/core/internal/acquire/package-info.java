// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * Requests for locks. The acquire loop enters the queue, decides, waits for predecessors and is granted; beside it
 * there is a shorter way, the downgrade. {@link dev.zkrecipes.core.spi.LockInternals} says what happens at each step.
 */
@NullMarked
package dev.zkrecipes.core.internal.acquire;

import org.jspecify.annotations.NullMarked;
