// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** The locks of {@code docs/drivers.md}, written as a user would: with core and its SPI and nothing else. */
@NullMarked
package dev.zkrecipes.examples;

import org.jspecify.annotations.NullMarked;
