// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** The nodes that a client has in queues, from their creation to the server's word that they are gone. */
@NullMarked
package dev.zkrecipes.core.internal.node;

import org.jspecify.annotations.NullMarked;
