// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * The locks that applications use: the blocking and the asynchronous API on top of the engine's requests, the same API
 * around locks of other libraries, and queries about one lock path.
 *
 * <p>Nearly everything here runs on threads of the application. These threads hand tasks to the engine and park until a
 * future completes.
 */
@NullMarked
package dev.zkrecipes.core.internal.lock;

import org.jspecify.annotations.NullMarked;
