// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** What is asked once of a queue without entering it: who holds and who waits, and a request to give a lock back. */
@NullMarked
package dev.zkrecipes.core.internal.ask;

import org.jspecify.annotations.NullMarked;
