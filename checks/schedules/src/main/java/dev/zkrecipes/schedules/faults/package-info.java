// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** All recipes under schedules of faults, on the simulated ensemble of {@code recipes-explore}: {@code bin/explore}. */
@NullMarked
package dev.zkrecipes.schedules.faults;

import org.jspecify.annotations.NullMarked;
