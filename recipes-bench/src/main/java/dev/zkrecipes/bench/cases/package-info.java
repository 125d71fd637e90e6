// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** What is measured, of whom, and what ought to come out. */
@NullMarked
package dev.zkrecipes.bench.cases;

import org.jspecify.annotations.NullMarked;
