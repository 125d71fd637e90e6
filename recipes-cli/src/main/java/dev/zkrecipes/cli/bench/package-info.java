// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** {@code zklock bench}: measures what a lock costs on the user's own ensemble. */
@NullMarked
package dev.zkrecipes.cli.bench;

import org.jspecify.annotations.NullMarked;
