// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** {@code zklock doctor}: checks whether locks work on these servers, and says what to do if not. */
@NullMarked
package dev.zkrecipes.cli.doctor;

import org.jspecify.annotations.NullMarked;
