// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * The {@code zklock} command: {@link dev.zkrecipes.cli.ZkLock} is the entry, each sub-command has a package of its own.
 *
 * <p>{@code dev.zkrecipes.cli.operate} shows who holds a lock, asks for it and breaks it,
 * {@code dev.zkrecipes.cli.server} is a server for development.
 *
 * <p>{@code dev.zkrecipes.cli.demo} shows a recipe at work among processes.
 */
@NullMarked
package dev.zkrecipes.cli;

import org.jspecify.annotations.NullMarked;
