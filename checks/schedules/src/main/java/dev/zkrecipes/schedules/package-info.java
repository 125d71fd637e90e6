// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * Two or three threads and the engine's own, in every order that Fray finds. Time passes only when no thread can go on:
 * a test in which it passes has lost a wake-up.
 */
@NullMarked
package dev.zkrecipes.schedules;

import org.jspecify.annotations.NullMarked;
