// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** Requests to give a lock back: the asking side and the holder's side. */
@NullMarked
package dev.zkrecipes.core.internal.revoke;

import org.jspecify.annotations.NullMarked;
