// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/** A client from its start to its end: its connection, its sessions, and what has to end before it. */
@NullMarked
package dev.zkrecipes.core.internal.client;

import org.jspecify.annotations.NullMarked;
