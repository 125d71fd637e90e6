// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * What the suites and this project's own tests share: threads, processes, time and chance. Not for others: it changes
 * without notice.
 */
@NullMarked
package dev.zkrecipes.test.internal;

import org.jspecify.annotations.NullMarked;
