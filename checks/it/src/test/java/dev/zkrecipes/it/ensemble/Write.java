// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.ensemble;

import java.util.List;

/**
 * An attempt to count.
 *
 * @param id unique
 * @param counters what was counted, together
 * @param outcome what the process knows of it
 */
record Write(String id, List<String> counters, Outcome outcome) {

    /** The outcome of a write. */
    enum Outcome {
        /** Acknowledged. */
        DONE,
        /** Refused by the guard: the lease is no longer held. */
        REFUSED,
        /** The answer was lost. */
        UNKNOWN
    }
}
