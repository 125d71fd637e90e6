// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** Schedules of faults for all recipes together, on the simulated ensemble of {@code recipes-explore}: {@code bin/explore}. */
@NullMarked
package dev.zkrecipes.schedules.faults;

import org.jspecify.annotations.NullMarked;
