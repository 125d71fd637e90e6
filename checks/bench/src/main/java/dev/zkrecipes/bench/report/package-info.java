// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** Results as text, CSV and charts. */
@NullMarked
package dev.zkrecipes.bench.report;

import org.jspecify.annotations.NullMarked;
