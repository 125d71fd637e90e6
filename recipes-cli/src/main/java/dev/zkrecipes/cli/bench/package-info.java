// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * {@code zklock bench}: what a lock costs on the user's own ensemble.
 *
 * <p>{@code LockBench} measures one {@code Task} after the other with a {@code Stopwatch}, below a {@code Scratch} path
 * that is removed afterwards.
 */
@NullMarked
package dev.zkrecipes.cli.bench;

import org.jspecify.annotations.NullMarked;
