// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** One ZooKeeper session: its watches, its lists, what proves that it lives, and where sessions come from. */
@NullMarked
package dev.zkrecipes.core.internal.session;

import org.jspecify.annotations.NullMarked;
