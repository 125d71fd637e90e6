// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * What every lock must do, whatever its recipe: suites of JUnit tests that a recipe's test extends.
 *
 * <p>Each suite asks for one thing, a {@link dev.zkrecipes.test.contract.Recipe}, and needs a real server, which it
 * starts itself:
 *
 * <pre>{@code
 * class OrdersLockIT {
 *     private static final Recipe RECIPE = Recipe.exclusive(OrdersLock::new, Ownership.REENTRANT_THREAD);
 *
 *     @Nested
 *     class Acquire extends AcquireContract {
 *         @Override
 *         protected Recipe recipe() {
 *             return RECIPE;
 *         }
 *     }
 *     // and the same for SessionContract, LossContract and RevocationContract
 * }
 * }</pre>
 *
 * <table>
 * <caption>Map of the package</caption>
 * <tr><th>Suite</th><th>What it plays</th></tr>
 * <tr><td>{@link dev.zkrecipes.test.contract.AcquireContract}</td><td>every way to ask, and every way in which the others,
 *     time or the application end it</td></tr>
 * <tr><td>{@link dev.zkrecipes.test.contract.SessionContract}</td><td>the same when the session, the connection or the client
 *     goes</td></tr>
 * <tr><td>{@link dev.zkrecipes.test.contract.LossContract}</td><td>a lock that is held and lost</td></tr>
 * <tr><td>{@link dev.zkrecipes.test.contract.RevocationContract}</td><td>a lock that is held and asked for</td></tr>
 * </table>
 *
 * <p>A driver is checked without a server: {@link dev.zkrecipes.test.contract.DriverLaws}.
 *
 * <p>How many requests a lock may send is no part of it: that differs from recipe to recipe.
 */
@NullMarked
package dev.zkrecipes.test.contract;

import org.jspecify.annotations.NullMarked;
