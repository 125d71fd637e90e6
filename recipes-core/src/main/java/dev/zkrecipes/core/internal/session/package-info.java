// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * One ZooKeeper session: its state and the proof that it is alive.
 * {@link dev.zkrecipes.core.internal.session.KeepAlive} knows the held nodes of the session, checks them, and ends
 * their holds when the session ends.
 */
@NullMarked
package dev.zkrecipes.core.internal.session;

import org.jspecify.annotations.NullMarked;
