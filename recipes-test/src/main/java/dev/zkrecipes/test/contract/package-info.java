// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * Suites of JUnit tests for what every lock must do, whatever its recipe and its author. The test of a lock or of a
 * driver extends them. The names of the tests are the rules. {@code docs/drivers.md} is a guide.
 *
 * <ul>
 *   <li>For a driver: {@link dev.zkrecipes.test.contract.LockDriverContract} plays every short queue, without a server.
 *       It checks the laws, and the author's own rule.
 *   <li>For any lock: {@link dev.zkrecipes.test.contract.InterProcessLockContract}. It combines a suite for each of
 *       these subjects: all ways to request a lock and to end the request ({@link
 *       dev.zkrecipes.test.contract.AcquireContract}), competition ({@link dev.zkrecipes.test.contract.TurnsContract}),
 *       interrupts ({@link dev.zkrecipes.test.contract.InterruptContract}), the ends of sessions, connections and
 *       clients, the loss of a held lock ({@link dev.zkrecipes.test.contract.LossContract}), and the state that a lease
 *       reports ({@link dev.zkrecipes.test.contract.LeaseContract}).
 *   <li>For capabilities that only some locks have: {@link dev.zkrecipes.test.contract.LockCapabilityContract}, with a
 *       nested class for each capability.
 *   <li>For a read-write lock: {@link dev.zkrecipes.test.contract.ReadWriteLockContract}, or
 *       {@link dev.zkrecipes.test.contract.SharingContract} if the lock has no downgrade.
 *   <li>For a semaphore: {@link dev.zkrecipes.test.contract.SemaphoreContract}.
 * </ul>
 *
 * <p>All suites except the first need a real server, which they start themselves in this JVM. They do not limit how
 * many requests a lock sends, because that differs from recipe to recipe.
 */
@NullMarked
package dev.zkrecipes.test.contract;

import org.jspecify.annotations.NullMarked;
