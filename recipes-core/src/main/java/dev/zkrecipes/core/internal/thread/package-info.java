// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** The engine's thread, the threads beside it, deadlines, pauses and blocking. */
@NullMarked
package dev.zkrecipes.core.internal.thread;

import org.jspecify.annotations.NullMarked;
