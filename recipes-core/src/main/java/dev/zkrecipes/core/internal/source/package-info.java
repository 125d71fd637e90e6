// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** Where the sessions of a client come from, and the tasks that work in them. */
@NullMarked
package dev.zkrecipes.core.internal.source;

import org.jspecify.annotations.NullMarked;
