// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** A client: its public face, its parts tied together, and its end. */
@NullMarked
package dev.zkrecipes.core.internal.client;

import org.jspecify.annotations.NullMarked;
