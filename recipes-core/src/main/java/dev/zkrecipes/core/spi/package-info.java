// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * What authors of recipes use.
 *
 * <table>
 * <caption>Map of the package</caption>
 * <tr><th>Type</th><th>What it is</th></tr>
 * <tr><td>{@link dev.zkrecipes.core.spi.LockDriver}</td><td>decides who holds: the part to write</td></tr>
 * <tr><td>{@link dev.zkrecipes.core.spi.LockNode}</td><td>a node in the queue, and its place in the order</td></tr>
 * <tr><td>{@link dev.zkrecipes.core.spi.Decision}</td><td>what a driver answers</td></tr>
 * <tr><td>{@link dev.zkrecipes.core.spi.MutexDriver}</td><td>the simplest one: the first request holds</td></tr>
 * <tr><td>{@link dev.zkrecipes.core.spi.FifoDriver}</td><td>a driver that serves requests in order</td></tr>
 * <tr><td>{@link dev.zkrecipes.core.spi.SharedRuleDriver}</td><td>a driver whose rule all processes share</td></tr>
 * <tr><td>{@link dev.zkrecipes.core.spi.LockInternals}</td><td>the engine for one path and one driver</td></tr>
 * <tr><td>{@link dev.zkrecipes.core.spi.LockGroups}</td><td>two modes of a lock, several locks as one</td></tr>
 * <tr><td>{@link dev.zkrecipes.core.spi.DelegatingLock}</td><td>what a recipe's lock may look like</td></tr>
 * <tr><td>{@link dev.zkrecipes.core.spi.ForeignLock}</td>
 * <td>a lock of another library, or one on top of locks of this one</td></tr>
 * <tr><td>{@link dev.zkrecipes.core.spi.LockSnapshot}</td><td>the queue of a lock as one request showed it</td></tr>
 * <tr><td>{@link dev.zkrecipes.core.spi.NodeData}</td><td>the contents of the data of a lock node</td></tr>
 * <tr><td>{@link dev.zkrecipes.core.spi.LockNames}</td><td>names in a path, derived from values</td></tr>
 * <tr><td>{@link dev.zkrecipes.core.spi.LockParts}</td><td>for locks that are built on other locks</td></tr>
 * </table>
 */
@NullMarked
package dev.zkrecipes.core.spi;

import org.jspecify.annotations.NullMarked;
