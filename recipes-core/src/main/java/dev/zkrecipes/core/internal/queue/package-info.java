// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * The model of a lock and its queue, without any I/O: the path, driver and options of a lock, the order of its queue,
 * and the decision of the driver.
 */
@NullMarked
package dev.zkrecipes.core.internal.queue;

import org.jspecify.annotations.NullMarked;
