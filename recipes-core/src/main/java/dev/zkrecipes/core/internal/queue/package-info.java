// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** What a lock is (path, driver, options), the order of its queue, and the driver's decision, without any I/O. */
@NullMarked
package dev.zkrecipes.core.internal.queue;

import org.jspecify.annotations.NullMarked;
