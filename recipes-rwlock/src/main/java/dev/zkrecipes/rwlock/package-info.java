// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * Shared reading and exclusive writing: {@link dev.zkrecipes.rwlock.InterProcessReadWriteLock}. Its contract is that of
 * {@link dev.zkrecipes.core.InterProcessLock}.
 */
@NullMarked
package dev.zkrecipes.rwlock;

import org.jspecify.annotations.NullMarked;
