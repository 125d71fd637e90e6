// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * Requests for locks. The acquire loop enters the queue, decides, waits for predecessors and is granted. The downgrade
 * is a shorter way to the shared mode. {@link dev.zkrecipes.core.spi.LockInternals} describes what happens at each
 * step.
 *
 * <p>When a predecessor is deleted, {@link dev.zkrecipes.core.internal.acquire.QueueView} notifies the places that wait
 * for it. Each {@link dev.zkrecipes.core.internal.acquire.QueuePlace} asks the driver again about the known queue.
 * {@link dev.zkrecipes.core.internal.acquire.AcquireLoop} grants when all places of the request are granted.
 */
@NullMarked
package dev.zkrecipes.core.internal.acquire;

import org.jspecify.annotations.NullMarked;
