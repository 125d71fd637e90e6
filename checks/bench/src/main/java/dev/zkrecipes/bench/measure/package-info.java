// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** How a turn of one contender is measured. */
@NullMarked
package dev.zkrecipes.bench.measure;

import org.jspecify.annotations.NullMarked;
