// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** One handle as the engine sees it: requests that always end, servers that are silent, and stops of this process. */
@NullMarked
package dev.zkrecipes.core.internal.handle;

import org.jspecify.annotations.NullMarked;
