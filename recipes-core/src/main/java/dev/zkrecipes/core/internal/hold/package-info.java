// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** What a lease stands on: held nodes and foreign holds, who holds them and for how long, and how a hold ends. */
@NullMarked
package dev.zkrecipes.core.internal.hold;

import org.jspecify.annotations.NullMarked;
