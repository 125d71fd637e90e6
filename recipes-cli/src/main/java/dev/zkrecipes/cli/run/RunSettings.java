// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What was asked for, checked.
 *
 * @param lock which lock
 * @param command what to run, and its arguments
 * @param patience how long to wait for it; zero not to wait, empty for as long as it takes
 * @param conflictCode what to end with if it was not acquired in time
 * @param onLost what becomes of the command when the lock is lost
 * @param onRevoke what becomes of it when somebody asks for the lock
 * @param grace between TERM and KILL
 */
record RunSettings(
        LockChoice lock,
        List<String> command,
        Optional<Duration> patience,
        int conflictCode,
        Reaction onLost,
        Reaction onRevoke,
        Duration grace) {
    RunSettings {
        command = List.copyOf(command);
    }
}
