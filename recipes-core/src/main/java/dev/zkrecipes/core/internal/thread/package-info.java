// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * The executor that runs the engine, all other threads of the library, and the means to wait: deadlines, pauses and
 * blocking calls.
 */
@NullMarked
package dev.zkrecipes.core.internal.thread;

import org.jspecify.annotations.NullMarked;
