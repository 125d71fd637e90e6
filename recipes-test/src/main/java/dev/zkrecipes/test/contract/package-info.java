// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * What every lock must do, whatever its recipe and its author: suites of JUnit tests, for the test of a lock or of a
 * driver to extend. Their names are the rules. {@code docs/drivers.md} is a guide.
 *
 * <table>
 * <caption>Map of the package: what to extend</caption>
 * <tr><th>For</th><th>Suite</th><th>What it plays</th></tr>
 * <tr><td>a driver</td><td>{@link dev.zkrecipes.test.contract.LockDriverContract}</td><td>every short queue, without a
 *     server: the laws, and the author's own rule</td></tr>
 * <tr><td>any lock</td><td>{@link dev.zkrecipes.test.contract.InterProcessLockContract}</td><td>the next six</td></tr>
 * <tr><td></td><td>{@link dev.zkrecipes.test.contract.AcquireContract}</td>
 * <td>every way to ask, and every way in which the
 *     others, time or the application end it</td></tr>
 * <tr><td></td><td>{@link dev.zkrecipes.test.contract.TurnsContract}</td><td>many who ask: one at a time, in their
 *     order</td></tr>
 * <tr><td></td><td>{@link dev.zkrecipes.test.contract.InterruptContract}</td><td>the same when the thread is
 *     interrupted</td></tr>
 * <tr><td></td><td>{@link dev.zkrecipes.test.contract.SessionContract}</td>
 * <td>the same when the session, the connection or
 *     the client goes</td></tr>
 * <tr><td></td><td>{@link dev.zkrecipes.test.contract.LossContract}</td><td>a lock that is held and lost</td></tr>
 * <tr><td></td><td>{@link dev.zkrecipes.test.contract.LeaseContract}</td>
 * <td>what a lease says of itself meanwhile</td></tr>
 * <tr><td>a lock that can</td><td>{@link dev.zkrecipes.test.contract.LockCapabilityContract}</td>
 * <td>one nested class for
 *     each of the next five that the lock is capable of</td></tr>
 * <tr><td></td><td>{@link dev.zkrecipes.test.contract.ReentrantContract}</td><td>a lock of threads</td></tr>
 * <tr><td></td><td>{@link dev.zkrecipes.test.contract.InstanceOwnedContract}</td><td>a lock of the instance</td></tr>
 * <tr><td></td><td>{@link dev.zkrecipes.test.contract.UnownedContract}</td>
 * <td>a lock whose holds belong to no thread</td></tr>
 * <tr><td></td><td>{@link dev.zkrecipes.test.contract.RevocationContract}</td>
 * <td>a lock that is held and asked for</td></tr>
 * <tr><td></td><td>{@link dev.zkrecipes.test.contract.CounterContract}</td><td>a queue with high numbers</td></tr>
 * <tr><td>a read-write lock</td><td>{@link dev.zkrecipes.test.contract.ReadWriteLockContract}</td>
 * <td>the next two</td></tr>
 * <tr><td></td><td>{@link dev.zkrecipes.test.contract.SharingContract}</td>
 * <td>who holds together, and in what order</td></tr>
 * <tr><td></td><td>{@link dev.zkrecipes.test.contract.DowngradeContract}</td><td>from writing to reading, and not
 *     back</td></tr>
 * <tr><td>a semaphore</td><td>{@link dev.zkrecipes.test.contract.SemaphoreContract}</td>
 * <td>the next one, and permits as a
 *     lock</td></tr>
 * <tr><td></td><td>{@link dev.zkrecipes.test.contract.PermitsContract}</td>
 * <td>how many hold, and in what order</td></tr>
 * <tr><td></td><td>{@link dev.zkrecipes.test.contract.ResizeContract}</td><td>a limit that is changed</td></tr>
 * </table>
 *
 * <p>All but the first need a real server, which they start themselves in this JVM. They do not check how many requests
 * a lock may send: that differs from recipe to recipe.
 */
@NullMarked
package dev.zkrecipes.test.contract;

import org.jspecify.annotations.NullMarked;
