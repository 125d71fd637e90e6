// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** The nodes that a client has to delete, until the server says that they are gone, and the paths that it creates. */
@NullMarked
package dev.zkrecipes.core.internal.clean;

import org.jspecify.annotations.NullMarked;
