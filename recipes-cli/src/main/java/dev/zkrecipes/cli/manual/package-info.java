// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** What goes with the command line, made from it: pages of the manual and completion for shells. */
@NullMarked
package dev.zkrecipes.cli.manual;

import org.jspecify.annotations.NullMarked;
