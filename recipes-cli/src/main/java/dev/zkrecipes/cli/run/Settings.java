// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import java.time.Duration;
import java.util.Optional;

/**
 * The options, checked.
 *
 * @param lock which lock
 * @param patience how long to wait for it; zero not to wait, empty for as long as it takes
 * @param conflictCode the exit code if it was not acquired in time
 * @param onLost what happens to the command when the lock is lost
 * @param onRevoke what happens to it when somebody asks for the lock
 * @param grace the time between TERM and KILL
 * @param pause the least time between two starts of the command; empty if it is started once
 * @param verbose whether to tell of the wait and the hold
 */
record Settings(
        LockChoice lock,
        Optional<Duration> patience,
        int conflictCode,
        Reaction onLost,
        Reaction onRevoke,
        Duration grace,
        Optional<Duration> pause,
        boolean verbose) {

    /** What happens to the command. */
    enum Reaction {
        /** It gets TERM, and KILL after the grace period. */
        TERM,
        /** It continues. */
        IGNORE
    }
}
