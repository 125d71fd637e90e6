// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** {@code zklock explore}: the recipes to explore, their promises, and the command. */
@NullMarked
package dev.zkrecipes.cli.explore;

import org.jspecify.annotations.NullMarked;
