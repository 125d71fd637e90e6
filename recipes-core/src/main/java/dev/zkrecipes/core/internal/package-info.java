// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * The engine. Not part of the API: any class here may change or vanish with the next version.
 *
 * <p>All state is confined to the engine thread of a client ({@link dev.zkrecipes.core.spi.EngineScheduler}) unless a
 * class says otherwise; {@code docs/concurrency.md} says which thread runs what.
 *
 * <table>
 * <caption>Map of the package</caption>
 * <tr><th>Noun</th><th>What it does</th></tr>
 * <tr><td>{@link dev.zkrecipes.core.internal.EngineClient}</td><td>ties the parts of one client together</td></tr>
 * <tr><td>{@code SessionSource}</td><td>where sessions come from: opened, wrapped or supplied</td></tr>
 * <tr><td>{@code Session}</td><td>one session: its state, its proof of life, its watches and its leases</td></tr>
 * <tr><td>{@code Attempt}</td><td>the state machine of one acquire</td></tr>
 * <tr><td>{@code QueueNode}</td><td>one node in a queue, and whether it exists</td></tr>
 * <tr><td>{@code NodeCleaner}</td><td>deletes nodes until a server confirms that they are gone</td></tr>
 * <tr><td>{@code Grant}</td><td>one held node: held, lost or released</td></tr>
 * <tr><td>{@link dev.zkrecipes.core.internal.EngineLock}</td><td>the blocking and asynchronous API over attempts</td></tr>
 * </table>
 */
@NullMarked
package dev.zkrecipes.core.internal;

import org.jspecify.annotations.NullMarked;
