// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** A limited number of permits that processes share: {@link dev.zkrecipes.semaphore.InterProcessSemaphore}. */
@NullMarked
package dev.zkrecipes.semaphore;

import org.jspecify.annotations.NullMarked;
