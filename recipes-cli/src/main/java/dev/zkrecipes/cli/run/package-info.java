// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * {@code zklock run}, {@code lead} and {@code hold}: a lock for a command that {@code bin/zklock} starts, once or in
 * each term of a leadership, and for a script. The head of {@code bin/zklock} explains who does what.
 * {@link dev.zkrecipes.cli.run.RunCommand}, {@code LeadCommand} and {@code HoldCommand} read the command line,
 * {@code Keeper} acquires, keeps the lock and gives it back.
 */
@NullMarked
package dev.zkrecipes.cli.run;

import org.jspecify.annotations.NullMarked;
