// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** The measurements, the contenders and the targets. */
@NullMarked
package dev.zkrecipes.bench.cases;

import org.jspecify.annotations.NullMarked;
