// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * For applications that use Apache Curator.
 *
 * <table>
 * <caption>Map of the package</caption>
 * <tr><th>Type</th><th>What it is</th></tr>
 * <tr><td>{@link dev.zkrecipes.curator.CuratorClients}</td>
 * <td>our locks on a {@code CuratorFramework}'s connection</td></tr>
 * <tr><td>{@link dev.zkrecipes.curator.CuratorLocks}</td><td>our locks as Curator's {@code InterProcessLock}, and
 *     Curator's locks as ours</td></tr>
 * </table>
 */
@NullMarked
package dev.zkrecipes.curator;

import org.jspecify.annotations.NullMarked;
