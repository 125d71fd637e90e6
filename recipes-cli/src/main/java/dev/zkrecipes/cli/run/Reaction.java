// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

/** What becomes of the command when the lock is lost, or asked for. */
enum Reaction {
    /** It is told to end, and killed when the grace is over. */
    TERM,
    /** It continues. */
    IGNORE
}
