// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * What every lock must do, whatever its recipe and its author: suites of JUnit tests, for the test of a lock or of a
 * driver to extend. Their names are the rules. {@code docs/drivers.md} is a guide.
 *
 * <ul>
 *   <li>For a driver: {@link dev.zkrecipes.test.contract.LockDriverContract} plays every short queue, without a server:
 *       the laws, and the author's own rule.
 *   <li>For any lock: {@link dev.zkrecipes.test.contract.InterProcessLockContract}, which consists of a suite for each
 *       of these: every way to ask and to end ({@link dev.zkrecipes.test.contract.AcquireContract}), many who ask
 *       ({@link dev.zkrecipes.test.contract.TurnsContract}), interrupts ({@link
 *       dev.zkrecipes.test.contract.InterruptContract}), sessions, connections and clients that go, a lock that is held
 *       and lost ({@link dev.zkrecipes.test.contract.LossContract}), and what a lease says of itself meanwhile ({@link
 *       dev.zkrecipes.test.contract.LeaseContract}).
 *   <li>For what some locks can do: {@link dev.zkrecipes.test.contract.LockCapabilityContract}, a nested class each.
 *   <li>For a read-write lock: {@link dev.zkrecipes.test.contract.ReadWriteLockContract}; {@link
 *       dev.zkrecipes.test.contract.SharingContract} alone, if it has no downgrade.
 *   <li>For a semaphore: {@link dev.zkrecipes.test.contract.SemaphoreContract}.
 * </ul>
 *
 * <p>All but the first need a real server, which they start themselves in this JVM. They do not check how many requests
 * a lock may send: that differs from recipe to recipe.
 */
@NullMarked
package dev.zkrecipes.test.contract;

import org.jspecify.annotations.NullMarked;
