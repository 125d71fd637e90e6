// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * Helpers that the suites share with the tests of this project: for threads, processes, time and randomness. They are
 * not meant for other users, because they may change without notice.
 */
@NullMarked
package dev.zkrecipes.test.internal;

import org.jspecify.annotations.NullMarked;
