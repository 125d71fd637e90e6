// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** Where sessions come from, and the tasks that wait for one. */
@NullMarked
package dev.zkrecipes.core.internal.source;

import org.jspecify.annotations.NullMarked;
