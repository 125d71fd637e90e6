// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** Output formats: text that is safe on a terminal, and JSON for other programs. */
@NullMarked
package dev.zkrecipes.cli.text;

import org.jspecify.annotations.NullMarked;
