// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * What the sub-commands that work on a user's own ensemble have in common: the options that say where it is and who asks
 * ({@link dev.zkrecipes.cli.connect.ConnectOptions}), what a command ends with
 * ({@link dev.zkrecipes.cli.connect.ExitCodes}), and how durations and paths are written.
 */
@NullMarked
package dev.zkrecipes.cli.connect;

import org.jspecify.annotations.NullMarked;
