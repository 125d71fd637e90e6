// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * What applications use: the client, the lock, the lease and the errors.
 *
 * <table>
 * <caption>Map of the package</caption>
 * <tr><th>Type</th><th>What it is</th></tr>
 * <tr><td>{@link dev.zkrecipes.core.ZooKeeperClient}</td><td>the connection to ZooKeeper that locks use</td></tr>
 * <tr><td>{@link dev.zkrecipes.core.InterProcessLock}</td><td>the contract of every lock</td></tr>
 * <tr><td>{@link dev.zkrecipes.core.Lease}</td><td>one hold of a lock: close it to release it</td></tr>
 * <tr><td>{@link dev.zkrecipes.core.LockOptions}</td><td>optional settings of a lock</td></tr>
 * <tr><td>{@link dev.zkrecipes.core.LockObserver}</td><td>is told of every request and hold of a client</td></tr>
 * <tr><td>{@link dev.zkrecipes.core.Revoker}</td><td>asks the holders of a lock to give it back</td></tr>
 * <tr><td>{@link dev.zkrecipes.core.LockException}</td><td>the base of all errors</td></tr>
 * </table>
 *
 * <p>The locks themselves are in modules of their own: {@code recipes-mutex}, {@code recipes-rwlock},
 * {@code recipes-semaphore}, {@code recipes-multilock}, {@code recipes-handoff}, and leader election in
 * {@code recipes-leader}. To write a lock of your own, start at {@link dev.zkrecipes.core.spi}.
 */
@NullMarked
package dev.zkrecipes.core;

import org.jspecify.annotations.NullMarked;
