// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

/**
 * A driver that grants no request before those in front of it. Most locks are of this kind: a mutex, a read-write lock,
 * a semaphore that serves requests in order. A range lock is not: a request may be granted while another one in front
 * of it still waits.
 *
 * <p>If many requests wait in one process, the engine asks such a driver only about the first one, and watches only the
 * nodes for which that one waits.
 *
 * <p><b>Law 4.</b> If the driver does not grant a node, then neither this driver nor another {@code FifoDriver} of the
 * same lock grants a node that has it among its predecessors.
 */
public interface FifoDriver extends LockDriver {}
