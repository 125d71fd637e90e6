// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** Figures as tables and charts. */
@NullMarked
package dev.zkrecipes.bench.report;

import org.jspecify.annotations.NullMarked;
