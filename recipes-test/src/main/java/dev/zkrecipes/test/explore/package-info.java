// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * Plays locks on a simulated ensemble under faults, thousands of schedules a second, and checks their promises after
 * every step. {@link dev.zkrecipes.test.explore.Explorer} is where to begin, {@link
 * dev.zkrecipes.test.explore.ExploredLock} and {@link dev.zkrecipes.test.explore.Rule} say what is played.
 */
@NullMarked
package dev.zkrecipes.test.explore;

import org.jspecify.annotations.NullMarked;
