// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import dev.zkrecipes.core.spi.port.Answer;

/** A request that changes the tree, as the leader carries it out. */
@FunctionalInterface
interface Write<T> {
    /** Carries it out. If the answer is not OK, its changes are discarded. */
    Answer<T> apply(Draft draft);
}
