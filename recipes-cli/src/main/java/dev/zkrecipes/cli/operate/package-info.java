// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * What an operator does with locks: {@code zklock ls}, {@code revoke} and {@code break}, on any path, whichever library
 * created its nodes.
 *
 * <p>{@code Reads} asks ZooKeeper, {@code Tree} is what stands at a path or below it, in the words of
 * {@link dev.zkrecipes.cli.operate.PathView}, and pages of text and JSON show it.
 */
@NullMarked
package dev.zkrecipes.cli.operate;

import org.jspecify.annotations.NullMarked;
