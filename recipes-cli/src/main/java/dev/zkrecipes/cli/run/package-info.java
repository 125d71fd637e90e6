// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * {@code zklock run}: a command under a lock. {@link dev.zkrecipes.cli.run.RunCommand} reads the command line,
 * {@code LockedRun} acquires, runs and releases, {@code ChildGroup} is the command and whatever it has started,
 * {@code Guard} ends them if zklock itself is killed, {@code SignalDesk} passes signals on.
 */
@NullMarked
package dev.zkrecipes.cli.run;

import org.jspecify.annotations.NullMarked;
