// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

/**
 * A driver under which nobody is granted before those in front of it. Most locks are of this kind: a mutex, a
 * read-write lock, a semaphore that serves requests in order. A lock on ranges is not: a request may be granted while
 * another one in front of it still waits.
 *
 * <p>Of many requests that wait in one process, the engine then asks such a driver only about the first, and watches
 * only what that one waits for.
 *
 * <p><b>Law 4.</b> If the driver does not grant a node, then neither this driver nor another {@code FifoDriver} of the
 * same lock grants a node that has it among its predecessors.
 */
public interface FifoDriver extends LockDriver {}
