// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** A client and its end; the blocking and the asynchronous API of its locks over requests; the record of all holds. */
@NullMarked
package dev.zkrecipes.core.internal.lock;

import org.jspecify.annotations.NullMarked;
