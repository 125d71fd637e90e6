// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/**
 * The options of {@code run}, {@code lead} or {@code hold}, after they were checked.
 *
 * @param lock the lock
 * @param patience how long to wait for the lock; zero means not to wait, empty means to wait as long as it takes
 * @param conflictCode the exit code if the lock was not acquired in time
 * @param onLost what happens to the command when the lock is lost
 * @param onRevoke what happens to the command when somebody asks for the lock
 * @param grace the time between TERM and KILL
 * @param pause the least time between two starts of the command; empty if it is started only once
 * @param verbose whether to report how long zklock waited for and held the lock
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
        IGNORE;

        /** Returns the name as in the help, for completion. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
