// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * The {@code zklock} command. {@link dev.zkrecipes.cli.ZkLock} is its entry point.
 *
 * <p>The sub-commands have packages of their own: {@code run}, {@code lead} and {@code hold} are in
 * {@code dev.zkrecipes.cli.run}; {@code ls}, {@code revoke} and {@code break} are in
 * {@code dev.zkrecipes.cli.operate}; {@code doctor}, {@code bench}, {@code server} and {@code demo} are in packages
 * of these names. {@code dev.zkrecipes.cli.connect} and {@code dev.zkrecipes.cli.text} have what the sub-commands
 * share.
 */
@NullMarked
package dev.zkrecipes.cli;

import org.jspecify.annotations.NullMarked;
