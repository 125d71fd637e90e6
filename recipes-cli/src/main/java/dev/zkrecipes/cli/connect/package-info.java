// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * What the sub-commands on a user's own ensemble share: the options for servers and credentials
 * ({@link dev.zkrecipes.cli.connect.ConnectOptions}), the exit codes ({@link dev.zkrecipes.cli.connect.ExitCodes}), and
 * the form of durations and paths.
 */
@NullMarked
package dev.zkrecipes.cli.connect;

import org.jspecify.annotations.NullMarked;
