// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * A client from its start to its end: its parts and how they are tied together, its connection, its sessions, and what
 * has to end before the client does. {@code EngineClient.start} begins a client; {@code EngineClient.close} ends it in
 * order. An error in a task of the engine ends it at once.
 */
@NullMarked
package dev.zkrecipes.core.internal.client;

import org.jspecify.annotations.NullMarked;
