// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** Text for terminals and for other programs. */
@NullMarked
package dev.zkrecipes.cli.text;

import org.jspecify.annotations.NullMarked;
