// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * The commands with which an operator looks at locks and takes them away: {@code zklock ls}, {@code revoke} and
 * {@code break}. They work on any path, whichever library created its nodes.
 *
 * <p>{@code Reads} sends the requests to ZooKeeper. {@link dev.zkrecipes.cli.operate.PathView} is the state of the lock
 * at one path, and {@code Tree} has the locks at a path or below it. {@code TextPage} and {@code JsonPage} format a
 * tree.
 */
@NullMarked
package dev.zkrecipes.cli.operate;

import org.jspecify.annotations.NullMarked;
