// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** What a lease stands on: the nodes that are held, who holds them, for how long, and how a hold ends. */
@NullMarked
package dev.zkrecipes.core.internal.hold;

import org.jspecify.annotations.NullMarked;
