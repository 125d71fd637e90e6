// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * {@code zklock run}, {@code lead} and {@code hold}. They keep a lock for a command that {@code bin/zklock} starts,
 * once or in each term of a leadership; or for a script.
 *
 * <p>Two processes work together: the launcher {@code bin/zklock}, which runs the command, and a JVM with this code,
 * which holds the lock. The head of {@code bin/zklock} explains who does what. In the JVM,
 * {@link dev.zkrecipes.cli.run.RunCommand}, {@code LeadCommand} and {@code HoldCommand} read the command line, and
 * {@code Keeper} acquires the lock, keeps it and releases it.
 */
@NullMarked
package dev.zkrecipes.cli.run;

import org.jspecify.annotations.NullMarked;
