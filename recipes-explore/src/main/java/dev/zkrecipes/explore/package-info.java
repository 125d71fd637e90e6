// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * Plays locks on a simulated ensemble with faults, thousands of schedules a second, and checks their promises after
 * every step. Begin with {@link dev.zkrecipes.explore.Explorer}. {@link dev.zkrecipes.explore.ExploredLock} and
 * {@link dev.zkrecipes.explore.Rule} describe the lock to play.
 */
@NullMarked
package dev.zkrecipes.explore;

import org.jspecify.annotations.NullMarked;
