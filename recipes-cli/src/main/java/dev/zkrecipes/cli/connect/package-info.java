// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * Code that the sub-commands share to reach a user's ensemble: the options for servers and credentials
 * ({@link dev.zkrecipes.cli.connect.ConnectOptions}), the exit codes ({@link dev.zkrecipes.cli.connect.ExitCodes}),
 * and the converters of durations and paths.
 */
@NullMarked
package dev.zkrecipes.cli.connect;

import org.jspecify.annotations.NullMarked;
