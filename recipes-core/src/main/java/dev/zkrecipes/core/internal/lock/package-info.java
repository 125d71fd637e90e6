// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** The blocking and the asynchronous API over requests, and the record of all holds. */
@NullMarked
package dev.zkrecipes.core.internal.lock;

import org.jspecify.annotations.NullMarked;
