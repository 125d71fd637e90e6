// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * Plays all recipes under schedules of faults, on the simulated ensemble of {@code recipes-explore}. {@code
 * bin/explore} runs it.
 */
@NullMarked
package dev.zkrecipes.schedules.faults;

import org.jspecify.annotations.NullMarked;
