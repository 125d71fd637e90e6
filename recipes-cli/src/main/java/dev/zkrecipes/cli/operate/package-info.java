// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * What an operator does with locks: {@code zklock ls}, {@code revoke} and {@code break}, on any path, whichever library
 * created its nodes.
 *
 * <p>{@code Tree} reads and keeps up to date, {@code Queue} says what
 * the nodes of a path mean, {@code LockView} is the result, and pages of text and JSON show it.
 */
@NullMarked
package dev.zkrecipes.cli.operate;

import org.jspecify.annotations.NullMarked;
