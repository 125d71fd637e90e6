// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * Plays two or three threads of an application and those of the engine, in every order that Fray finds. Apart from a
 * microsecond per step, time passes only when no thread can run: a play in which it passes has lost a wake-up.
 */
@NullMarked
package dev.zkrecipes.schedules;

import org.jspecify.annotations.NullMarked;
