// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * {@code bin/bench}: measures contenders in turn on one server. {@link dev.zkrecipes.bench.compare.Cases} is the table
 * of what is measured, {@link dev.zkrecipes.bench.compare.Comparison} measures it, and
 * {@link dev.zkrecipes.bench.compare.Result} is the result of one case in one setting.
 */
@NullMarked
package dev.zkrecipes.bench.compare;

import org.jspecify.annotations.NullMarked;
