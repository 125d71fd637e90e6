// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * Plays locks on a simulated ensemble under faults, thousands of schedules a second, and checks their promises after
 * every step. {@link dev.zkrecipes.explore.Explorer} is where to begin, {@link
 * dev.zkrecipes.explore.ExploredLock} and {@link dev.zkrecipes.explore.Rule} say what is played.
 */
@NullMarked
package dev.zkrecipes.explore;

import org.jspecify.annotations.NullMarked;
