// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** Generates the pages of the manual and the completion for shells from the command line. */
@NullMarked
package dev.zkrecipes.cli.manual;

import org.jspecify.annotations.NullMarked;
