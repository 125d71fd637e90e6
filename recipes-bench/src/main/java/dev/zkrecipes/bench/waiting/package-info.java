// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** The textbook's comparison: polling, watching the parent, watching the predecessor. */
@NullMarked
package dev.zkrecipes.bench.waiting;

import org.jspecify.annotations.NullMarked;
