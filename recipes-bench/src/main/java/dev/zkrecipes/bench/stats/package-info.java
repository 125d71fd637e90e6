// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** Medians, spreads and paired ratios. */
@NullMarked
package dev.zkrecipes.bench.stats;

import org.jspecify.annotations.NullMarked;
