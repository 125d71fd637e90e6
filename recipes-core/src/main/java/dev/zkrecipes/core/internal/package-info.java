// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * The engine. Not part of the API: any class below may change or vanish with the next version. Its rooms, from the top
 * floor down; each uses only those below it:
 *
 * <table>
 * <caption>Rooms</caption>
 * <tr><th>Package</th><th>What is in it</th></tr>
 * <tr><td>{@code lock}</td><td>a client, its parts tied together, its end; the blocking and asynchronous API of its
 * locks on top of requests; the record of all holds</td></tr>
 * <tr><td>{@code revoke}</td><td>requests to give a lock back</td></tr>
 * <tr><td>{@code acquire}</td><td>the acquire loop, and what it needs beside it</td></tr>
 * <tr><td>{@code node}</td><td>the nodes that a client has in queues, from creation to confirmed deletion</td></tr>
 * <tr><td>{@code diagnosis}</td><td>why there is no connection; only the client asks</td></tr>
 * <tr><td>{@code session}</td><td>one ZooKeeper session: watches, lists, proof of life</td></tr>
 * <tr><td>{@code queue}</td><td>what a lock is, what a list of its path shows, the driver's decision; no I/O</td></tr>
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
