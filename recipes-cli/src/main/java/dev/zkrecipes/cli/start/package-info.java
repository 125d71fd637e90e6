// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** What makes {@code zklock} start quickly. */
@NullMarked
package dev.zkrecipes.cli.start;

import org.jspecify.annotations.NullMarked;
