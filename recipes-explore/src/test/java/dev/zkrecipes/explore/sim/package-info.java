// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** Tests of the simulated ensemble: of its pieces, and of the model itself against real servers. */
@NullMarked
package dev.zkrecipes.explore.sim;

import org.jspecify.annotations.NullMarked;
