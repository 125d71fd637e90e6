// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * Plays two or three threads of an application and those of the engine, in every order that Fray finds. Time advances
 * by a microsecond per step, and beyond that only when no thread can run. So a play that takes longer than it is
 * allowed to has lost a wake-up.
 */
@NullMarked
package dev.zkrecipes.schedules;

import org.jspecify.annotations.NullMarked;
