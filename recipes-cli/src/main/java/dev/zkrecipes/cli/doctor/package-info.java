// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** {@code zklock doctor}: whether locks can be had from these servers, and what to do if not. */
@NullMarked
package dev.zkrecipes.cli.doctor;

import org.jspecify.annotations.NullMarked;
