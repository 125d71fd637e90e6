// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * Requests for locks. The acquire loop enters the queue, decides, waits for predecessors and is granted; beside it
 * there is a shorter way, the downgrade. {@link dev.zkrecipes.core.spi.LockInternals} says what happens at each step.
 *
 * <p>When a node in front is deleted, {@link dev.zkrecipes.core.internal.acquire.QueueView} tells the places that wait
 * behind it. Each {@link dev.zkrecipes.core.internal.acquire.QueuePlace} asks the driver again, on the queue that is
 * known. {@link dev.zkrecipes.core.internal.acquire.AcquireLoop} grants when all places of the request are granted.
 */
@NullMarked
package dev.zkrecipes.core.internal.acquire;

import org.jspecify.annotations.NullMarked;
