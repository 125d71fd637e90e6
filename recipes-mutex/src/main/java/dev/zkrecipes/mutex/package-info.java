// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * Locks with one holder at a time.
 *
 * <table>
 * <caption>Map of the package</caption>
 * <tr><th>Type</th><th>What it is</th></tr>
 * <tr><td>{@link dev.zkrecipes.mutex.InterProcessMutex}</td><td>held by a thread, re-entrant</td></tr>
 * <tr><td>{@link dev.zkrecipes.mutex.InterProcessSemaphoreMutex}</td><td>held by the instance, not re-entrant</td></tr>
 * </table>
 */
@NullMarked
package dev.zkrecipes.mutex;

import org.jspecify.annotations.NullMarked;
