// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** Several locks as one, all or nothing: {@link dev.zkrecipes.multilock.InterProcessMultiLock}. */
@NullMarked
package dev.zkrecipes.multilock;

import org.jspecify.annotations.NullMarked;
