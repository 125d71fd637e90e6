// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * The commands {@code bin/bench}, {@code bin/bench scale} and {@code bin/faults}. {@link dev.zkrecipes.bench.Bench} is
 * the main class of all of them.
 */
@NullMarked
package dev.zkrecipes.bench;

import org.jspecify.annotations.NullMarked;
