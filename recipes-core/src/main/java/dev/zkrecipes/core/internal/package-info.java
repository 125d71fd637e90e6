// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * The engine. Not part of the API: any class below may change or vanish with the next version. Its rooms, from the top
 * floor down; each uses only those below it:
 *
 * <table>
 * <caption>Rooms</caption>
 * <tr><th>Package</th><th>What is in it</th></tr>
 * <tr><td>{@code lock}</td><td>the locks that applications use, mostly on threads of the application</td></tr>
 * <tr><td>{@code client}</td><td>a client from its start to its end</td></tr>
 * <tr><td>{@code ask}</td><td>who holds and who waits, and requests to give a lock back; without a place in the queue
 * </td></tr>
 * <tr><td>{@code acquire}</td><td>one request, from the queue to the grant; what a deletion in front of it means
 * </td></tr>
 * <tr><td>{@code hold}</td><td>the record of all holds; what a lease stands on, and how it ends: closed, or lost with
 * its node or its session</td></tr>
 * <tr><td>{@code clean}</td><td>nodes to delete, until the server says that they are gone; paths to create</td></tr>
 * <tr><td>{@code source}</td><td>where sessions come from, and the tasks that wait for one</td></tr>
 * <tr><td>{@code session}</td><td>one ZooKeeper session: its state and its proof of life, and the held nodes that it
 * checks, and ends with itself</td></tr>
 * <tr><td>{@code reads}</td><td>what a session reads for all its locks: lists and watches</td></tr>
 * <tr><td>{@code handle}</td><td>one handle as the engine sees it: requests that always end</td></tr>
 * <tr><td>{@code queue}</td><td>what a lock is, what a list of its path shows, the driver's decision; no I/O</td></tr>
 * <tr><td>{@code diagnosis}</td><td>why there is no connection; only the client asks</td></tr>
 * <tr><td>{@code zk}</td><td>ZooKeeper handles</td></tr>
 * <tr><td>{@code thread}</td><td>the engine's thread, deadlines, pauses, blocking</td></tr>
 * <tr><td>{@code wire}</td><td>what stands in ZooKeeper: names, paths, data</td></tr>
 * </table>
 *
 * <p>{@link dev.zkrecipes.core.spi.LockInternals} tells the way of a request through them, step by step.
 *
 * <p>All rooms use {@code dev.zkrecipes.core.spi}, what drivers are written against, and {@code spi.port}, what stands
 * between the engine and ZooKeeper and time.
 *
 * <p>All state is confined to the engine thread of a client ({@link dev.zkrecipes.core.spi.port.EngineScheduler})
 * unless a class says otherwise; {@code docs/dev/concurrency.md} says which thread runs what.
 */
@NullMarked
package dev.zkrecipes.core.internal;

import org.jspecify.annotations.NullMarked;
