// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

/** What happens to the command when its lock is lost or asked for. */
enum Reaction {
    /** It gets TERM, and KILL after the grace period. */
    TERM,
    /** It continues. */
    IGNORE
}
