// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** Two or three threads and the engine's own, in every order that Fray finds. */
@NullMarked
package dev.zkrecipes.schedules;

import org.jspecify.annotations.NullMarked;
