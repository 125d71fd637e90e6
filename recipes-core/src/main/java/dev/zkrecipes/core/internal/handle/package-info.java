// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** One handle as the engine sees it: requests that are always answered, silent servers, and pauses of this process. */
@NullMarked
package dev.zkrecipes.core.internal.handle;

import org.jspecify.annotations.NullMarked;
